//! The functions of a session: those that the policy leaves, and a guard around those that can make much out of little.
//!
//! A function's result is memory that no pool sees. `repeat('x', 300000000)` takes 1.2 GB, and does so while the
//! statement is planned, because its arguments are constants. The guard estimates the result before the function runs.

mod concat;
mod constants;
mod growth;
mod window;

use std::collections::BTreeSet;
use std::sync::Arc;

use datafusion::execution::{FunctionRegistry, SessionState};
use datafusion::logical_expr::ScalarUDF;

use crate::error::{ConfigError, nearest};
use crate::policy::Policy;
use concat::GuardedConcat;
use growth::{Growth, Guarded};
use window::GuardedWindows;

pub(crate) use constants::check as check_constants;

/// Puts a guard around every function whose result can outgrow its arguments, around `||`, and around aggregates in windows: it fails with
/// `resource_exhausted` when one batch of results would take more than an eighth of `memory`, the limit of the whole
/// toolset in bytes, or one constant more than a 128th. What is made while the batch is worked on is not in the memory
/// pool; the pool and the guard together keep to the limit and an eighth of it for each step of a query that runs.
pub(crate) fn guard(state: &mut SessionState, memory: usize) -> datafusion::error::Result<()> {
    for function in guarded(state, memory) {
        state.register_udf(function)?;
    }
    state.register_function_rewrite(Arc::new(GuardedConcat::new(memory)))?;
    state.register_function_rewrite(Arc::new(GuardedWindows { memory }))
}

fn guarded(state: &SessionState, memory: usize) -> Vec<Arc<ScalarUDF>> {
    let mut names: Vec<&String> =
        state.scalar_functions().iter().filter(|(key, udf)| key.as_str() == udf.name()).map(|(key, _)| key).collect();
    names.sort_unstable();
    names
        .into_iter()
        .filter_map(|name| {
            let growth = Growth::of(name)?;
            let inner = state.scalar_functions().get(name)?;
            // Guarding twice would only cost time.
            (!inner.inner().is::<Guarded>()).then(|| Arc::new(Guarded::wrap(Arc::clone(inner), growth, memory)))
        })
        .collect()
}

/// Whether a call can make a large value out of constants.
pub(crate) fn grows(name: &str) -> bool {
    Growth::of(name).is_some_and(Growth::is_from_numbers)
}

/// Takes away the functions that the policy does not leave. What SQL writes as an operator keeps working: the engine
/// plans `a[1]`, `EXTRACT` or `||` without looking a name up.
///
/// # Errors
/// Names a function that the session does not have, with the nearest one.
pub(crate) fn apply_policy(state: &mut SessionState, policy: &Policy) -> Result<(), ConfigError> {
    let functions = functions(state);
    let known: BTreeSet<&str> =
        functions.iter().flat_map(|function| function.names.iter().map(String::as_str)).collect();
    let resolve = |list: &str, names: &[String]| -> Result<BTreeSet<String>, ConfigError> {
        names
            .iter()
            .map(|name| {
                let lower = name.to_lowercase();
                if known.contains(name.as_str()) {
                    return Ok(name.clone());
                }
                if known.contains(lower.as_str()) {
                    return Ok(lower);
                }
                let near = nearest(name, known.iter().copied());
                let near = near.first().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
                Err(ConfigError::new(format!(
                    "`{list}` names the function `{name}`, which the session does not have{near}"
                )))
            })
            .collect()
    };
    let allowed = policy.allowed_functions().map(|names| resolve("allowed_functions", names)).transpose()?;
    let denied = resolve("denied_functions", policy.denied_functions())?;

    let is_in = |function: &Function, set: &BTreeSet<String>| function.names.iter().any(|name| set.contains(name));
    for function in &functions {
        if !is_in(function, &denied) && allowed.as_ref().is_none_or(|allowed| is_in(function, allowed)) {
            continue;
        }
        let key = &function.names[0];
        match function.kind {
            Kind::Scalar => state.deregister_udf(key).map(drop),
            Kind::Aggregate => state.deregister_udaf(key).map(drop),
            Kind::Window => state.deregister_udwf(key).map(drop),
            Kind::HigherOrder => state.deregister_higher_order_function(key).map(drop),
            Kind::Table => state.deregister_udtf(key).map(drop),
        }
        .map_err(|error| ConfigError::new(format!("the function `{key}` cannot be taken away: {error}")))?;
    }
    Ok(())
}

#[derive(Clone, Copy)]
enum Kind {
    Scalar,
    Aggregate,
    Window,
    HigherOrder,
    Table,
}

/// One entry of a session's register; the first name is the one that it is registered under.
struct Function {
    kind: Kind,
    names: Vec<String>,
}

fn functions(state: &SessionState) -> Vec<Function> {
    let entry = |kind, key: &String, name: &str, aliases: &[String]| {
        let mut names = vec![key.clone(), name.to_owned()];
        names.extend_from_slice(aliases);
        Function { kind, names }
    };
    let scalar = state.scalar_functions().iter().map(|(key, f)| entry(Kind::Scalar, key, f.name(), f.aliases()));
    let aggregate =
        state.aggregate_functions().iter().map(|(key, f)| entry(Kind::Aggregate, key, f.name(), f.aliases()));
    let window = state.window_functions().iter().map(|(key, f)| entry(Kind::Window, key, f.name(), f.aliases()));
    let higher =
        state.higher_order_functions().iter().map(|(key, f)| entry(Kind::HigherOrder, key, f.name(), f.aliases()));
    let table = state.table_functions().keys().map(|key| entry(Kind::Table, key, key, &[]));
    scalar.chain(aggregate).chain(window).chain(higher).chain(table).collect()
}

#[cfg(test)]
mod tests;
