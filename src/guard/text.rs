//! The size of a statement, seen from its tokens before anything recursive reads it.
//!
//! The parser, the planner, the optimizer and the physical plan all recurse over their trees, and so does dropping
//! them: a text that makes a deep tree ends the process. DataFusion's and the parser's own protection covers part of
//! those walks only. So the depth is bounded here, on a flat list of tokens:
//!
//! ```text
//! a + b + c     ((a + b) + c)       one level per operator
//! ((a))         one level per bracket, and the parser's own limit on top
//! SELECT … UNION ALL SELECT … …     one level per branch
//! a JOIN b JOIN c                   one level per join
//! WITH a AS (…), b AS (… a …), …    one level per name, because a name is replaced by its query
//! f(1, 2, 3, …), IN (1, 2, 3, …)    flat: any number
//! ```

use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};

use crate::error::{Error, ErrorCode};

// Measured in a debug build, parse to end of execution: at these limits 8 MiB of stack are enough, and what bounds
// them from above is the optimizer's time, which grows with the square of a chain and faster with joins: 1.7 s for 500
// terms of `+`, 36 s for 2,000; 1.1 s for 60 joins, 6 s for 100. A release build takes about a tenth of that.

/// Operators that may stand one above the other: what a chain such as `a OR b OR …` builds.
pub(super) const MAX_CHAIN: usize = 600;
/// Open brackets, `CASE`s included.
pub(super) const MAX_NESTING: usize = 64;
/// `UNION`s in the whole statement.
pub(super) const MAX_UNIONS: usize = 512;
/// Joins in the whole statement; `EXCEPT` and `INTERSECT` are planned as joins.
pub(super) const MAX_JOINS: usize = 64;
/// `WITH` names and pipe operators in the whole statement: each can put its query on top of the last one's.
pub(super) const MAX_STACKED_QUERIES: usize = 128;
/// `EXPLAIN`s, and type names with parameters (`ARRAY<ARRAY<…>>`): the parser reads both without counting. Signs and
/// `NOT`s in a row.
const MAX_WRAPPERS: usize = 16;

/// How tightly an operator binds: only as coarse as chains need. A looser operator takes the whole chain before it as
/// its left side.
#[derive(Clone, Copy)]
enum Binding {
    Or = 0,
    And = 1,
    Compare = 2,
    Add = 3,
    Multiply = 4,
    Postfix = 5,
}

const BINDINGS: usize = 6;

/// One bracket or `CASE`, and the expression that is being read in it.
#[derive(Default)]
struct Level {
    is_case: bool,
    /// Depth of the chain so far, by binding.
    chain: [usize; BINDINGS],
    /// `AND`s that belong to a `BETWEEN`.
    between: usize,
}

impl Level {
    fn operator(&mut self, binding: Binding) {
        let binding = binding as usize;
        let below = self.chain[binding..].iter().copied().max().unwrap_or_default();
        self.chain[binding] = below + 1;
        self.chain[binding + 1..].fill(0);
    }

    fn depth(&self) -> usize {
        self.chain.iter().sum()
    }

    fn restart(&mut self) {
        self.chain = [0; BINDINGS];
        self.between = 0;
    }
}

/// Refuses a statement whose tree could be too deep.
pub(super) fn check(tokens: &[TokenWithSpan]) -> Result<(), Error> {
    let mut levels = vec![Level::default()];
    // Depth of the chains of all open levels but the last.
    let mut outer = 0;
    let (mut unions, mut joins, mut stacked, mut wrappers) = (0, 0, 0, 0);
    // `NOT NOT …`, `- - …`: the parser would call a long run a syntax error.
    let mut prefixes = 0;
    let mut previous = &Token::EOF;
    let mut words =
        tokens.iter().map(|token| &token.token).filter(|token| !matches!(token, Token::Whitespace(_))).peekable();

    while let Some(token) = words.next() {
        let open = levels.len();
        let is_prefix = is_keyword(token, &[Keyword::NOT])
            || matches!(token, Token::Minus | Token::Plus | Token::Tilde | Token::ExclamationMark);
        prefixes = if is_prefix { prefixes + 1 } else { 0 };
        let Some(level) = levels.last_mut() else { break };
        match token {
            Token::LParen | Token::LBracket | Token::LBrace => {
                // `AS (` or `AS MATERIALIZED (` begins a query of WITH; `x[1]` stacks on x.
                if is_keyword(previous, &[Keyword::AS, Keyword::MATERIALIZED]) && matches!(token, Token::LParen) {
                    stacked += 1;
                } else if matches!(token, Token::LBracket) {
                    level.operator(Binding::Postfix);
                }
                outer += level.depth() + 1;
                levels.push(Level::default());
            }
            Token::RParen | Token::RBracket | Token::RBrace => {
                // A CASE that nobody ended ends here.
                while levels.len() > 1 {
                    let closed_case = levels.pop().is_some_and(|level| level.is_case);
                    outer = close(outer, &levels);
                    if !closed_case {
                        break;
                    }
                }
            }
            Token::Comma | Token::SemiColon => level.restart(),
            Token::Word(word) if word.quote_style.is_none() => match word.keyword {
                Keyword::CASE => {
                    outer += level.depth() + 1;
                    levels.push(Level { is_case: true, ..Level::default() });
                }
                Keyword::END if level.is_case => {
                    levels.pop();
                    outer = close(outer, &levels);
                }
                Keyword::OR | Keyword::XOR => level.operator(Binding::Or),
                Keyword::AND if level.between > 0 => level.between -= 1,
                Keyword::AND => level.operator(Binding::And),
                Keyword::BETWEEN => {
                    level.between += 1;
                    level.operator(Binding::Compare);
                }
                Keyword::NOT
                | Keyword::IS
                | Keyword::IN
                | Keyword::LIKE
                | Keyword::ILIKE
                | Keyword::SIMILAR
                | Keyword::RLIKE
                | Keyword::REGEXP
                | Keyword::MATCH
                | Keyword::OVERLAPS
                | Keyword::MEMBER => level.operator(Binding::Compare),
                Keyword::DIV => level.operator(Binding::Multiply),
                Keyword::COLLATE | Keyword::AT | Keyword::OPERATOR | Keyword::PRIOR | Keyword::INTERVAL => {
                    level.operator(Binding::Postfix);
                }
                Keyword::UNION => {
                    unions += 1;
                    level.restart();
                }
                Keyword::JOIN | Keyword::APPLY | Keyword::EXCEPT | Keyword::INTERSECT | Keyword::MINUS => {
                    joins += 1;
                    level.restart();
                }
                Keyword::EXPLAIN | Keyword::DESCRIBE | Keyword::DESC if previous_starts(previous) => wrappers += 1,
                Keyword::ARRAY | Keyword::STRUCT | Keyword::MAP
                    if matches!(words.peek(), Some(Token::Lt | Token::Neq | Token::ShiftLeft)) =>
                {
                    wrappers += 1;
                }
                // A clause begins a new expression.
                Keyword::SELECT
                | Keyword::FROM
                | Keyword::WHERE
                | Keyword::GROUP
                | Keyword::HAVING
                | Keyword::QUALIFY
                | Keyword::ORDER
                | Keyword::LIMIT
                | Keyword::ON
                | Keyword::WHEN
                | Keyword::THEN
                | Keyword::ELSE
                | Keyword::VALUES => level.restart(),
                _ => {}
            },
            Token::Plus | Token::Minus | Token::StringConcat => level.operator(Binding::Add),
            Token::Mul | Token::Div | Token::Mod | Token::DuckIntDiv => level.operator(Binding::Multiply),
            Token::DoubleColon => level.operator(Binding::Postfix),
            Token::Eq
            | Token::DoubleEq
            | Token::Neq
            | Token::Lt
            | Token::Gt
            | Token::LtEq
            | Token::GtEq
            | Token::Spaceship => level.operator(Binding::Compare),
            Token::VerticalBarRightAngleBracket => {
                stacked += 1;
                level.restart();
            }
            // Only after a bracket does a period stack a field access on what stands before.
            Token::Period if !matches!(previous, Token::RParen | Token::RBracket) => {}
            Token::Word(_)
            | Token::Number(..)
            | Token::SingleQuotedString(_)
            | Token::DoubleQuotedString(_)
            | Token::NationalStringLiteral(_)
            | Token::EscapedStringLiteral(_)
            | Token::UnicodeStringLiteral(_)
            | Token::HexStringLiteral(_)
            | Token::DollarQuotedString(_)
            | Token::Placeholder(_)
            | Token::EOF => {}
            // Every other sign is an operator of some dialect.
            _ => level.operator(Binding::Postfix),
        }
        previous = token;

        if levels.len() > MAX_NESTING && levels.len() > open {
            return Err(refuse(
                "nested too deeply",
                MAX_NESTING,
                "Name the inner queries with WITH or simplify the brackets.",
            ));
        }
        if outer + levels.last().map_or(0, Level::depth) > MAX_CHAIN {
            return Err(refuse(
                "a chain of too many operators",
                MAX_CHAIN,
                "Use IN (…) for many comparisons with one column, concat(…) for many strings, or a join with VALUES.",
            ));
        }
        if unions > MAX_UNIONS {
            return Err(refuse("too many UNION branches", MAX_UNIONS, "Use VALUES (…), (…) or several queries."));
        }
        if joins > MAX_JOINS {
            return Err(refuse("too many joins, EXCEPT or INTERSECT", MAX_JOINS, "Split the query."));
        }
        if stacked > MAX_STACKED_QUERIES {
            return Err(refuse(
                "too many WITH queries or pipe steps",
                MAX_STACKED_QUERIES,
                "Merge some of them or split the query.",
            ));
        }
        if wrappers > MAX_WRAPPERS || prefixes > MAX_WRAPPERS {
            return Err(refuse("nested too deeply", MAX_WRAPPERS, "Write it with fewer levels."));
        }
    }
    Ok(())
}

/// The outer depth when the last open level is the innermost one again.
fn close(outer: usize, levels: &[Level]) -> usize {
    outer.saturating_sub(levels.last().map_or(0, Level::depth) + 1)
}

/// Whether a statement may begin after this token.
fn previous_starts(previous: &Token) -> bool {
    matches!(previous, Token::EOF | Token::SemiColon | Token::RParen)
        || is_keyword(
            previous,
            &[
                Keyword::EXPLAIN,
                Keyword::DESCRIBE,
                Keyword::DESC,
                Keyword::ANALYZE,
                Keyword::VERBOSE,
                Keyword::EXTENDED,
            ],
        )
}

fn is_keyword(token: &Token, keywords: &[Keyword]) -> bool {
    matches!(token, Token::Word(word) if word.quote_style.is_none() && keywords.contains(&word.keyword))
}

fn refuse(what: &str, most: usize, advice: &str) -> Error {
    Error::new(ErrorCode::TooComplex, format!("The statement is too complex: {what} (at most {most}). {advice}"))
}
