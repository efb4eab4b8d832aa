//! The catalog the planner sees: opens a source at first use, shows only what the policy allows.
