//! Meaning of formulas, and refusals.

use super::*;
use proptest::prelude::*;

fn formula(text: &str) -> Formula {
    text.parse().unwrap_or_else(|e| panic!("{e}"))
}

/// A job of 4 processors, predicted to run 100 s, estimated at 200 s, submitted at 50 s.
const JOB: WaitingFacts = WaitingFacts {
    run: 100.0,
    estimate: 200.0,
    procs: 4.0,
    submit: 50.0,
    user: 3,
    group: 2,
    queue: 1,
    machine: 16.0,
    priority: 40.0,
    beyond: BEYOND,
};
const BEYOND: BeyondProcessors = BeyondProcessors { gpus: 2.0, memory: 8.0, share: 0.5 };

fn at(now: f64) -> Moment<'static> {
    Moment { now, load: 0.5, waiting: 7.0, shares: None }
}

#[test]
fn values_are_those_computed_by_hand() {
    for (text, value) in [
        ("r", 100.0),
        ("e + n*2", 208.0),
        ("a", 400.0),
        ("w", 250.0),
        ("s", 50.0),
        ("x", 3.5),
        ("user + 10*group + 100*queue", 123.0),
        ("load + waiting + machine", 23.5),
        ("priority * 2", 80.0),
        ("site", -40.0),
        // Two GPUs, 8 GB; half of some resource is more than 4 of 16 processors.
        ("gpus * 100 + mem + share", 208.5),
        ("log10(r)*n", 8.0),
        ("sqrt(r) * log2(n)", 20.0),
        ("-2^2", -4.0),
        ("2^3^2", 512.0),
        ("(-2)^2 - -1", 5.0),
        ("7 - 2 - 1", 4.0),
        ("16 / 4 / 2", 2.0),
        ("min(r, e, n) + max(r, e)", 204.0),
        ("abs(n - r)", 96.0),
        ("if(w > 4m and not n >= 5, 1, 2)", 1.0),
        ("if(w > 5m or queue == 2, 1, 2)", 2.0),
        ("2h + 1.5d + 1w", 7200.0 + 129_600.0 + 604_800.0),
        ("1e3 + 2.5E-1 + .5", 1000.75),
        ("exp(0) + ln(1)", 1.0),
        ("1/0", f64::INFINITY),
        ("usage(7d)", 0.0),
        ("R ** 2", 10_000.0),
    ] {
        assert_eq!(formula(text).compute_value(&JOB, &at(300.0)), value, "{text}");
    }
    assert!(formula("0/0*r").compute_value(&JOB, &at(300.0)).is_nan());
}

#[test]
fn texts_are_canonical() {
    for (text, canonical) in [
        ("log10( r )*N + 870 * log10(s)", "log10(r)*n+870*log10(s)"),
        ("\"r + 1\"", "r+1"),
        ("r + (2 * 3)", "r+6"),
        ("(r + n) * 2", "(r+n)*2"),
        ("r - (n - 1)", "r-(n-1)"),
        ("--r", "r"),
        ("-(r*n)", "-(r*n)"),
        ("if(1 < 2, r, n)", "r"),
        ("if(not(w > 1h), r, n)", "if(not w>3600,r,n)"),
        ("usage(168h)", "usage(7d)"),
        ("r^-2", "r^(-2)"),
        ("(r^2)^3", "(r^2)^3"),
        ("1e-7*r", "1e-7*r"),
        ("WFP3", "wfp3"),
        ("wfp3@prediction", "wfp3@prediction"),
        ("f1@prediction", "f1"),
        ("multifactor(size=2, age=1000)", "multifactor(age=1000,size=2)"),
    ] {
        assert_eq!(formula(text).text(), canonical, "{text}");
        assert_eq!(formula(canonical).text(), canonical);
    }
}

#[test]
fn motion_is_found_out() {
    use Motion::*;
    for (text, motion) in [
        ("r", Still),
        ("f4", Still),
        ("-w", Still),
        ("r*n - 60*w", Still),
        ("(r - w)/2 + waiting", Still),
        ("-(n - 2*w)*3", Still),
        ("wfp3", Clock),
        ("x", Clock),
        ("w*n", Clock),
        ("load*r", State),
        ("usage(7d)", State),
        ("if(waiting > 10, r, n)", State),
    ] {
        assert_eq!(formula(text).motion(), motion, "{text}");
    }
    // What changes alike counts with the submit time for the wait.
    assert_eq!(formula("r*n - 60*w").0.still.to_string(), "r*n+60*s");
}

#[test]
fn mistakes_are_pointed_at() {
    for (text, at, part) in [
        ("log10(q)*n", 6, "`q` is unknown"),
        ("r + wating", 4, "did you mean `waiting`?"),
        ("lg2(r)", 0, "did you mean `log2`?"),
        ("(r + n", 0, "not closed"),
        ("r + n)", 5, "closes none"),
        ("r n", 2, "operator is missing"),
        ("2n", 1, "write `2*n`"),
        ("r +", 3, "ends where a value"),
        ("* r", 0, "value is missing before `*`"),
        ("r > 5", 0, "an order needs a number"),
        ("1 < r < 3", 6, "cannot be chained"),
        ("if(r, 1, 2)", 3, "a condition is needed"),
        ("1 + (r > 2)", 4, "a number is needed"),
        ("min(r)", 0, "does not take 1 argument"),
        ("sqrt r", 5, "is a function"),
        ("usage(r)", 6, "length of time"),
        ("usage", 5, "is a function"),
        ("r # n", 2, "has no place"),
        ("(r, n)", 2, "comma"),
        ("", 0, "ends where a value"),
        ("1e999", 0, "no number"),
        ("wfp3@hours", 5, "no variant `hours`"),
        ("wfp@estimate", 0, "did you mean `wfp3`?"),
        ("multifactor(ages=1)", 12, "`ages` is no factor"),
        ("multifactor(age=x)", 16, "a weight is a number"),
        ("multifactor(age=0)", 11, "at least one weight"),
    ] {
        let error = text.parse::<Formula>().expect_err(text);
        assert_eq!(error.at, at, "{error}");
        assert!(error.problem.contains(part), "{error}");
    }
    let message = "r + wating".parse::<Formula>().expect_err("unknown").to_string();
    assert!(message.ends_with("\n  r + wating\n      ^"), "{message}");
}

#[test]
fn what_is_too_large_is_refused_without_harm() {
    let deep = format!("{}r{}", "(".repeat(2000), ")".repeat(2000));
    for (text, part) in [
        ("r+".repeat(5000) + "r", "at most 4096"),
        (deep, "nested more than"),
        ("-".repeat(4000) + "r", "nested more than"),
        ("r+".repeat(1000) + "r", "more than 500 parts"),
        ("2^".repeat(200) + "r", "nested more than"),
    ] {
        let error = text.parse::<Formula>().expect_err("too large");
        assert!(error.problem.contains(part), "{error}");
        assert!(error.to_string().lines().all(|line| line.chars().count() < 200), "{error}");
    }
}

/// Trees of right types.
pub(crate) fn numbers() -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![
        (-4i32..20).prop_map(|n| Expr::Number(f64::from(n) / 2.0)),
        prop::num::f64::NORMAL.prop_map(Expr::Number),
        (0..VARIABLES.len()).prop_map(|at| Expr::Variable(VARIABLES[at].variable)),
    ];
    leaf.prop_recursive(5, 40, 3, |inner| {
        let binary = (0usize..5, inner.clone(), inner.clone()).prop_map(|(at, a, b)| {
            let operators = [Operator::Add, Operator::Subtract, Operator::Multiply, Operator::Divide, Operator::Power];
            Expr::from_binary(operators[at], a, b)
        });
        let of_one = (2usize..8, inner.clone()).prop_map(|(at, a)| Expr::Call(FUNCTIONS[at].function, vec![a]));
        let choice = (0usize..6, inner.clone(), inner.clone(), inner.clone()).prop_map(|(at, a, b, c)| {
            let operators = [
                Operator::Below,
                Operator::AtMost,
                Operator::Above,
                Operator::AtLeast,
                Operator::Equal,
                Operator::Unequal,
            ];
            let condition = Expr::from_binary(operators[at], a.clone(), b);
            let condition = if at % 2 == 0 { Expr::Not(Box::new(condition)) } else { condition };
            let conjunction = Expr::from_binary(
                if at < 3 { Operator::And } else { Operator::Or },
                condition.clone(),
                Expr::from_binary(Operator::Above, a.clone(), Expr::Number(1.0)),
            );
            Expr::Call(Function::If, vec![conjunction, a, c])
        });
        prop_oneof![
            binary,
            of_one,
            choice,
            inner.clone().prop_map(|a| Expr::Minus(Box::new(a))),
            prop::collection::vec(inner, 2..4).prop_map(|arguments| Expr::Call(Function::Min, arguments)),
        ]
    })
}

fn facts() -> impl Strategy<Value = WaitingFacts> {
    (0u32..5000, 0u32..5000, 1u32..64, 0u32..900, -1i32..3).prop_map(|(run, estimate, procs, submit, user)| {
        WaitingFacts {
            run: f64::from(run),
            estimate: f64::from(estimate),
            procs: f64::from(procs),
            submit: f64::from(submit),
            user,
            group: user,
            queue: user,
            machine: 64.0,
            priority: f64::from(user),
            beyond: BeyondProcessors { gpus: f64::from(user.max(0)), memory: 1.5, share: 0.1 },
        }
    })
}

proptest! {
    /// Written formulas read back as themselves, and folding changes no value.
    #[test]
    fn texts_and_folding_keep_every_bit(expr in numbers(), facts in facts(), now in 900u32..9000) {
        let formula = Formula::new(&expr).expect("right types");
        let again = formula.text().parse::<Formula>().map(|f| f.text().to_string());
        prop_assert_eq!(again.as_deref(), Ok(formula.text()));
        let moment = at(f64::from(now));
        let (plain, folded_value) = (value::compute_value(&expr, &facts, &moment), formula.compute_value(&facts, &moment));
        prop_assert!(plain.to_bits() == folded_value.to_bits() || (plain.is_nan() && folded_value.is_nan()), "{plain} {folded_value}");
    }

    /// Many at once are as one alone.
    #[test]
    fn blocks_are_as_single_values(
        expr in numbers(), jobs in prop::collection::vec(facts(), 1..150), now in 900u32..9000,
    ) {
        let formula = Formula::new(&expr).expect("right types");
        let moment = at(f64::from(now));
        let mut board = QueueBoard::default();
        for (id, facts) in jobs.iter().enumerate() {
            let job = crate::parts::WaitingJob { id: crate::model::JobId(id as u32), ..Default::default() };
            board.insert(&formula, job, facts);
        }
        board.rate_jobs(&formula, &moment);
        for job in board.sorted_jobs() {
            let value = formula.compute_value(&jobs[job.id.index()], &moment);
            prop_assert_eq!(job.key, arithmetic::queue_place(value));
        }
    }

    /// A formula that is found to keep its order keeps it: whole numbers are exact.
    #[test]
    fn lines_keep_their_order(
        (r, n, w) in (-3i32..4, -3i32..4, -3i32..4), jobs in prop::collection::vec(facts(), 2..10), now in 900u32..9000,
    ) {
        let formula = formula(&format!("{r}*r-({n}*n-{w}*w)+waiting"));
        prop_assert_eq!(formula.motion(), Motion::Still);
        let moment = at(f64::from(now));
        for pair in jobs.windows(2) {
            let (a, b) = (formula.compute_value(&pair[0], &moment), formula.compute_value(&pair[1], &moment));
            prop_assert_eq!(formula.static_key(&pair[0]).cmp(&formula.static_key(&pair[1])), a.total_cmp(&b), "{} {}", a, b);
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in "\\PC{0,60}|[a-z0-9+*/^()<=>., -]{0,60}") {
        if let Ok(formula) = text.parse::<Formula>() {
            let again = formula.text().parse::<Formula>().map(|f| f.text().to_string());
        prop_assert_eq!(again.as_deref(), Ok(formula.text()));
        }
    }
}

/// Help and samples list the orders that are no formulas, then every named order.
#[test]
fn help_and_samples_list_every_order() {
    let words = crate::parts::Order::ALL.map(|order| order.name().to_string());
    let names: Vec<&str> = words.iter().map(String::as_str).chain(NAMED.iter().map(|order| order.name)).collect();
    assert!(ORDER_SHAPE.starts_with(&format!("{}|multifactor(", names.join("|"))), "{ORDER_SHAPE}");
    assert!(ORDER_SAMPLES.starts_with(&names), "{ORDER_SAMPLES:?}");
}

/// `docs/formulas.md` has every named order.
#[test]
fn every_named_order_is_documented() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/formulas.md");
    let text = std::fs::read_to_string(page).expect("a page");
    for NamedOrder { name, .. } in NAMED {
        assert!(text.contains(&format!("`{name}`")), "docs/formulas.md lacks the order `{name}`");
    }
}
