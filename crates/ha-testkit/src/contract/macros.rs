/// Makes one test of each case of a contract suite, in a module named like the suite.
///
/// The fixture is an expression that is evaluated in an async context, once for each case. See
/// [`contract`](crate::contract).
#[macro_export]
macro_rules! contract_tests {
    ($suite:ident, $fixture:expr $(,)?) => {
        $crate::contract_tests!($suite, $fixture, unsupported: {});
    };
    ($suite:ident, $fixture:expr, unsupported: { $($skipped:ident: $reason:literal),* $(,)? } $(,)?) => {
        mod $suite {
            #[allow(unused_imports, reason = "a fixture may name everything by path")]
            use super::*;

            $crate::$suite! { ($) $suite ($fixture) { $($skipped: $reason),* } }
        }
    };
}

/// Lists the cases of a suite: defines a macro of the suite's name that hands the list to
/// `__contract_tests`.
macro_rules! cases {
    (($d:tt) $suite:ident: $($case:ident),* $(,)?) => {
        #[doc(hidden)]
        #[macro_export]
        macro_rules! $suite {
            ($d($d arguments:tt)*) => {
                $crate::__contract_tests! { [$($case)*] $d($d arguments)* }
            };
        }

        /// The names of the cases, in order.
        pub const CASES: &[&str] = &[$(stringify!($case)),*];
    };
}
pub(crate) use cases;

#[doc(hidden)]
#[macro_export]
macro_rules! __contract_tests {
    (
        [$($case:ident)*] ($d:tt) $suite:ident ($fixture:expr) { $($skipped:ident: $reason:literal),* }
    ) => {
        // A name that is no case of the suite does not compile.
        const _: () = {
            #[allow(unused_imports, reason = "only the names are checked")]
            use $crate::contract::$suite::{$($skipped as _),*};
        };

        macro_rules! __case {
            $(
                ($skipped) => {
                    #[test]
                    #[ignore = $reason]
                    fn $skipped() {
                        $crate::contract::run(async { $crate::contract::$suite::$skipped($fixture).await });
                    }
                };
            )*
            ($d name:ident) => {
                #[test]
                fn $d name() {
                    $crate::contract::run(async { $crate::contract::$suite::$d name($fixture).await });
                }
            };
        }
        $(__case!($case);)*
    };
}
