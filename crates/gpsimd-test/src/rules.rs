//! What an op must keep to: each rule's code, why it is broken and what to do.
//!
//! Unaware of how it is found out. `docs/errors.md` is made from these rows.

use std::fmt;

/// One row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleEntry {
    /// Which rule.
    pub rule: Rule,
    /// Stable name.
    pub name: &'static str,
    /// What is wrong, in a few words.
    pub title: &'static str,
    /// Why it happens.
    pub cause: &'static str,
    /// What to do.
    pub remedy: &'static str,
}

macro_rules! rules {
    ($($(#[doc = $doc:literal])+ $rule:ident $name:literal $title:literal $cause:literal $remedy:literal;)+) => {
        /// What an op must keep to.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Rule { $($(#[doc = $doc])+ $rule,)+ }

        /// All rules, in the order of the enumeration.
        pub const RULES: &[RuleEntry] = &[$(RuleEntry {
            rule: Rule::$rule,
            name: concat!("test::", $name),
            title: $title,
            cause: $cause,
            remedy: $remedy,
        },)+];
    };
}

rules! {
    /// Nothing to test with.
    Inputs "inputs" "no inputs were found that the op takes"
        "the shape function, or the kernel itself, refuses everything that was made up"
        "give one good call with --input, a word for each parameter";
    /// A check of the device model.
    Finding "finding" "a check of the device model finds something"
        "the run line shows it, with the place in the source"
        "gpsimd-build explain the code that the message names";
    /// The shape function.
    Shape "shape" "the shape function is wrong"
        "what it answers is not what the kernel writes, or it does not come to an end"
        "make it return the shape and the element type that the kernel writes";
    /// Element types.
    Dtype "dtype" "an element type is not checked"
        "the shape function accepts a type that the kernel takes for another"
        "TORCH_CHECK the scalar type in the shape function, or dispatch over types in the kernel";
    /// Refused without reason.
    Refused "refused" "a size is refused"
        "the kernel aborts for a size that the shape function accepts"
        "handle the size, or refuse it in the shape function";
    /// Calls remember.
    Calls "calls" "a call depends on the calls before it"
        "something is kept between calls: a static variable, memory that is not initialised"
        "keep no state between calls";
    /// One core and eight.
    Cores "cores" "the result depends on the number of cores"
        "the work is divided so that a core needs what another has, or a total is of one core's part only"
        "let every output element depend on its inputs alone, not on who computes it";
    /// Fixed and split images.
    Lanes "lanes" "the split image gives another result"
        "the kernel depends on where it is loaded"
        "keep addresses out of results";
    /// Plain and checked builds.
    Checked "checked" "the checked build gives another result"
        "the kernel depends on what is undefined, such as the order of evaluation or memory that is not initialised"
        "run the checked library: its findings name the place";
    /// NaN.
    Nan "nan" "NaN is lost"
        "a comparison with NaN is false, so `x > 0 ? x : 0` makes 0 of it"
        "write the comparison so that NaN takes the branch that keeps it: `x < 0 ? 0 : x`";
    /// The reference.
    Reference "reference" "the result is not the reference's"
        "the kernel computes something else, or with less precision than --ulps allows"
        "the worst element is shown; the run line repeats it";
}

impl Rule {
    /// Its row.
    pub fn entry(self) -> &'static RuleEntry {
        &RULES[self as usize]
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.entry().name)
    }
}

impl schemars::JsonSchema for Rule {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Rule".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let names: Vec<&str> = RULES.iter().map(|entry| entry.name).collect();
        schemars::json_schema!({ "type": "string", "enum": names })
    }
}

impl serde::Serialize for Rule {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.entry().name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_the_enumeration_s_order() {
        assert!(RULES.iter().all(|entry| entry.rule.entry() == entry));
    }
}
