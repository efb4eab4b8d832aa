//! Which of a caller's predicates may run on rows that the rules take away.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::Column;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, Operator};

/// Whether evaluating the predicate cannot fail, whatever the values: comparisons of a column with literals of its own
/// type, and what joins them. `type_of` is `None` for columns that are not stored as they are seen.
pub(super) fn cannot_fail<'a>(filter: &Expr, type_of: &dyn Fn(&Column) -> Option<&'a DataType>) -> bool {
    let inner = |filter: &Expr| cannot_fail(filter, type_of);
    match filter {
        Expr::BinaryExpr(binary) => match binary.op {
            Operator::And | Operator::Or => inner(&binary.left) && inner(&binary.right),
            Operator::Eq
            | Operator::NotEq
            | Operator::Lt
            | Operator::LtEq
            | Operator::Gt
            | Operator::GtEq
            | Operator::IsDistinctFrom
            | Operator::IsNotDistinctFrom => {
                compares(&binary.left, &binary.right, type_of) || compares(&binary.right, &binary.left, type_of)
            }
            _ => false,
        },
        Expr::Not(filter) => inner(filter),
        Expr::IsNull(column) | Expr::IsNotNull(column) => {
            matches!(column.as_ref(), Expr::Column(column) if type_of(column).is_some())
        }
        Expr::IsTrue(filter) | Expr::IsFalse(filter) | Expr::IsNotTrue(filter) | Expr::IsNotFalse(filter) => {
            inner(filter)
        }
        Expr::InList(list) => list.list.iter().all(|item| compares(&list.expr, item, type_of)),
        Expr::Between(between) => {
            compares(&between.expr, &between.low, type_of) && compares(&between.expr, &between.high, type_of)
        }
        // A boolean column by itself.
        Expr::Column(column) => type_of(column) == Some(&DataType::Boolean),
        _ => false,
    }
}

fn compares<'a>(column: &Expr, literal: &Expr, type_of: &dyn Fn(&Column) -> Option<&'a DataType>) -> bool {
    match (column, literal) {
        (Expr::Column(column), Expr::Literal(value, _)) => {
            type_of(column).is_some_and(|data_type| !data_type.is_nested() && *data_type == value.data_type())
        }
        _ => false,
    }
}

/// The predicate with its columns by their names alone: the table has another name below.
pub(super) fn unqualified(filter: Expr) -> Result<Expr> {
    let bare = |expression| {
        Ok(match expression {
            Expr::Column(column) => Transformed::yes(Expr::Column(Column::new_unqualified(column.name))),
            other => Transformed::no(other),
        })
    };
    Ok(filter.transform(bare)?.data)
}

#[cfg(test)]
mod tests {
    use datafusion::logical_expr::{cast, col, lit, not};

    use super::*;

    #[test]
    fn only_plain_comparisons_are_safe() {
        let type_of = |column: &Column| match column.name() {
            "n" => Some(&DataType::Int64),
            "s" => Some(&DataType::Utf8),
            "b" => Some(&DataType::Boolean),
            _ => None,
        };
        let safe = |filter: Expr| cannot_fail(&filter, &type_of);
        for filter in [
            col("n").eq(lit(1_i64)),
            lit(1_i64).lt(col("n")).or(col("s").is_null()),
            not(col("s").in_list(vec![lit("a"), lit("b")], false)),
            col("n").between(lit(1_i64), lit(2_i64)),
            col("b").and(col("b").is_not_true()),
        ] {
            assert!(safe(filter.clone()), "{filter}");
        }
        for filter in [
            (lit(1_i64) / (col("n") - lit(42_i64))).gt(lit(0_i64)),
            cast(col("s"), DataType::Int64).eq(lit(1_i64)),
            col("n").eq(lit(1_i32)),
            col("masked").eq(lit(1_i64)),
            col("n").eq(col("n")),
            col("s").like(lit("a%")),
            col("b").and((col("n") / lit(0_i64)).is_null()),
        ] {
            assert!(!safe(filter.clone()), "{filter}");
        }
    }
}
