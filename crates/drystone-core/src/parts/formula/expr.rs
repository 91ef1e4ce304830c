//! Formulas as trees.

/// Variable of a formula: a property of a waiting job, or of the moment of the pass.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Variable {
    /// Predicted run time in seconds.
    Run,
    /// The user's estimate of the run time in seconds.
    Estimate,
    /// Processors.
    Procs,
    /// Predicted area: run time × processors, in processor-seconds.
    Area,
    /// Time that the job has waited, in seconds.
    Waited,
    /// Submit time, in seconds since the first submit of the log.
    Submit,
    /// Expansion factor: (waited + run) / run, where a run time below 1 s counts as 1 s.
    Expansion,
    /// The number of its user.
    User,
    /// The number of its group.
    Group,
    /// The number of its queue.
    Queue,
    /// The part of the machine's processors that is busy, from 0 to 1.
    Load,
    /// Number of waiting jobs.
    Waiting,
    /// Processors of the machine.
    Machine,
    /// GPUs of any type that the job asks for.
    Gpus,
    /// Memory that the job asks for in all, in gigabytes.
    Memory,
    /// Dominant share: the largest part that the job asks for of any resource of the machine,
    /// processors among them.
    Share,
    /// Priority that a live site gives the job.
    Priority,
}

/// A variable for people.
#[derive(Clone, Copy, Debug)]
pub struct VariableInfo {
    /// The variable.
    pub variable: Variable,
    /// Its name in formulas.
    pub name: &'static str,
    /// Unit.
    pub unit: &'static str,
    /// Meaning.
    pub meaning: &'static str,
}

macro_rules! variables {
    ($($variable:ident $name:literal $unit:literal $meaning:literal)*) => {
        /// All variables, in the order in which they are documented.
        pub const VARIABLES: &[VariableInfo] = &[$(
            VariableInfo { variable: Variable::$variable, name: $name, unit: $unit, meaning: $meaning },
        )*];
    };
}

variables! {
    Run "r" "s" "predicted run time"
    Estimate "e" "s" "the user's estimate of the run time"
    Procs "n" "processors" "processors"
    Area "a" "processor-seconds" "area: r*n"
    Waited "w" "s" "wait of the job so far"
    Submit "s" "s" "submit time, counted from the first submit of the log"
    Expansion "x" "1" "expansion factor: (w+r)/r, where r counts as 1 s at least"
    User "user" "number" "the user's number in the log, -1 where it is unknown"
    Group "group" "number" "the group's number"
    Queue "queue" "number" "the queue's number"
    Load "load" "1" "busy processors of the machine as a part of all, before the pass"
    Waiting "waiting" "jobs" "number of waiting jobs"
    Machine "machine" "processors" "processors of the machine"
    Gpus "gpus" "GPUs" "GPUs that the job asks for; 0 where GPUs are not counted"
    Memory "mem" "GB" "memory that the job asks for in all; 0 where memory is not counted"
    Share "share" "1" "dominant share: the largest part that the job asks for of any resource"
    Priority "priority" "points" "priority that a live site gives the job; 0 in logs"
}

impl Variable {
    /// Its name in formulas.
    #[must_use]
    pub fn name(self) -> &'static str {
        VARIABLES.iter().find(|info| info.variable == self).map_or("", |info| info.name)
    }
}

/// Operator between two values.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs, reason = "the words say it")]
pub enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    Below,
    AtMost,
    Above,
    AtLeast,
    Equal,
    Unequal,
    And,
    Or,
}

impl Operator {
    /// As written.
    #[must_use]
    pub fn sign(self) -> &'static str {
        use Operator::*;
        match self {
            Add => "+",
            Subtract => "-",
            Multiply => "*",
            Divide => "/",
            Power => "^",
            Below => "<",
            AtMost => "<=",
            Above => ">",
            AtLeast => ">=",
            Equal => "==",
            Unequal => "!=",
            And => " and ",
            Or => " or ",
        }
    }

    /// Returns its binding strength: larger is tighter.
    pub(super) fn binding_strength(self) -> u8 {
        use Operator::*;
        match self {
            Or => 1,
            And => 2,
            Below | AtMost | Above | AtLeast | Equal | Unequal => 4,
            Add | Subtract => 5,
            Multiply | Divide => 6,
            Power => 8,
        }
    }

    pub(super) fn joins_conditions(self) -> bool {
        matches!(self, Operator::And | Operator::Or)
    }

    pub(super) fn makes_condition(self) -> bool {
        self.joins_conditions() || self.binding_strength() == 4
    }
}

pub(super) const NOT_BINDING: u8 = 3;
/// Binding strength of a sign: `-2^2` is −4, and `-2*3` is (−2)·3.
pub(super) const SIGN_BINDING: u8 = 7;

/// A function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs, reason = "the words say it")]
pub enum Function {
    Min,
    Max,
    Log2,
    Log10,
    Ln,
    Sqrt,
    Exp,
    Abs,
    If,
}

/// A function for people.
#[derive(Clone, Copy, Debug)]
pub struct FunctionInfo {
    /// The function.
    pub function: Function,
    /// Its name in formulas.
    pub name: &'static str,
    /// Arguments and value.
    pub meaning: &'static str,
}

/// All functions.
pub const FUNCTIONS: &[FunctionInfo] = &[
    FunctionInfo { function: Function::Min, name: "min", meaning: "min(a,b,...): the smallest" },
    FunctionInfo { function: Function::Max, name: "max", meaning: "max(a,b,...): the largest" },
    FunctionInfo { function: Function::Log2, name: "log2", meaning: "log2(a): logarithm to base 2" },
    FunctionInfo { function: Function::Log10, name: "log10", meaning: "log10(a): logarithm to base 10" },
    FunctionInfo { function: Function::Ln, name: "ln", meaning: "ln(a): natural logarithm" },
    FunctionInfo { function: Function::Sqrt, name: "sqrt", meaning: "sqrt(a): square root" },
    FunctionInfo { function: Function::Exp, name: "exp", meaning: "exp(a): e to the power of a" },
    FunctionInfo { function: Function::Abs, name: "abs", meaning: "abs(a): without the sign" },
    FunctionInfo { function: Function::If, name: "if", meaning: "if(c,a,b): a where the condition c holds, else b" },
];

impl Function {
    /// Its name in formulas.
    #[must_use]
    pub fn name(self) -> &'static str {
        FUNCTIONS.iter().find(|info| info.function == self).map_or("", |info| info.name)
    }
}

/// A formula as a tree. [`Formula::new`](super::Formula::new) checks it.
#[derive(Clone, PartialEq, Debug)]
pub enum Expr {
    /// A number; never NaN where it was written.
    Number(f64),
    /// A variable.
    Variable(Variable),
    /// The user's share of what was used of the machine within this many seconds before the
    /// present, from 0 to 1.
    Usage(f64),
    /// The sign changed.
    Minus(Box<Expr>),
    /// A condition that holds where another does not.
    Not(Box<Expr>),
    /// Two values and what stands between them.
    Binary(Operator, Box<Expr>, Box<Expr>),
    /// A function with its arguments.
    Call(Function, Vec<Expr>),
}

impl Expr {
    /// A number.
    #[must_use]
    pub fn from_number(value: f64) -> Expr {
        Expr::Number(value)
    }

    /// Two values and what stands between them.
    #[must_use]
    pub fn from_binary(operator: Operator, left: Expr, right: Expr) -> Expr {
        Expr::Binary(operator, Box::new(left), Box::new(right))
    }

    /// The parts that it is made of directly.
    #[must_use]
    pub fn direct_parts(&self) -> Vec<&Expr> {
        match self {
            Expr::Number(_) | Expr::Variable(_) | Expr::Usage(_) => Vec::new(),
            Expr::Minus(a) | Expr::Not(a) => vec![a],
            Expr::Binary(_, a, b) => vec![a, b],
            Expr::Call(_, arguments) => arguments.iter().collect(),
        }
    }

    /// Returns the parts, mutable.
    pub fn parts_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            Expr::Number(_) | Expr::Variable(_) | Expr::Usage(_) => Vec::new(),
            Expr::Minus(a) | Expr::Not(a) => vec![a],
            Expr::Binary(_, a, b) => vec![a, b],
            Expr::Call(_, arguments) => arguments.iter_mut().collect(),
        }
    }

    /// Returns the number of numbers, variables, operators and functions in it.
    #[must_use]
    pub fn count_parts(&self) -> usize {
        1 + self.direct_parts().iter().map(|part| part.count_parts()).sum::<usize>()
    }

    /// Returns its depth of nesting.
    #[must_use]
    pub fn nesting_depth(&self) -> usize {
        1 + self.direct_parts().iter().map(|part| part.nesting_depth()).max().unwrap_or(0)
    }

    /// Returns whether it is a condition, not a number.
    #[must_use]
    pub fn is_condition(&self) -> bool {
        match self {
            Expr::Not(_) => true,
            Expr::Binary(operator, ..) => operator.makes_condition(),
            _ => false,
        }
    }
}
