//! JSON in which no object has a key twice.
//!
//! Readers of JSON take the last of several values for one key, so that a file may say one thing to
//! a user and another to a program. Here a repeated key is an error with its name.

use std::collections::HashSet;
use std::fmt;

use serde::de::{
    Deserialize, DeserializeOwned, Deserializer, Error, MapAccess, SeqAccess, Visitor,
};

/// Reads JSON text; no object in it has a key twice.
///
/// # Errors
/// The text is not JSON, is no `T`, or has a key twice, at any depth.
pub fn json<T: DeserializeOwned>(text: &str) -> Result<T, serde_json::Error> {
    serde_json::from_str::<UniqueKeys>(text)?;
    serde_json::from_str(text)
}

/// Any JSON value without repeated keys; nothing of it is kept.
struct UniqueKeys;

impl<'de> Deserialize<'de> for UniqueKeys {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<UniqueKeys, D::Error> {
        from.deserialize_any(UniqueKeys)
    }
}

impl<'de> Visitor<'de> for UniqueKeys {
    type Value = UniqueKeys;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<UniqueKeys, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<UniqueKeys, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<UniqueKeys, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<UniqueKeys, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<UniqueKeys, E> {
        Ok(self)
    }

    fn visit_unit<E>(self) -> Result<UniqueKeys, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<UniqueKeys, A::Error> {
        while list.next_element::<UniqueKeys>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<UniqueKeys, A::Error> {
        let mut keys = HashSet::new();
        while let Some(key) = object.next_key::<String>()? {
            if keys.contains(&key) {
                return Err(A::Error::custom(format_args!("the key {key:?} is there twice")));
            }
            keys.insert(key);
            object.next_value::<UniqueKeys>()?;
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    #[test]
    fn a_key_given_twice_is_named() {
        for (text, wanted) in [
            (r#"{"a": 1, "a": 1}"#, r#"the key "a" is there twice at line 1 column 12"#),
            (r#"{"a": [{"b": 1, "c": 2, "b": {}}]}"#, r#"the key "b" is there twice"#),
            ("{\"a\": 1, \"\\u0061\": 2}", r#"the key "a" is there twice"#),
        ] {
            let said = super::json::<Value>(text).unwrap_err().to_string();
            assert!(said.starts_with(wanted), "{text}: {said}");
        }
    }

    #[test]
    fn other_json_is_read() {
        let value = json!({ "a": [1, -1, 1.5, true, null, "x"], "b": { "a": {} } });
        assert_eq!(super::json::<Value>(&value.to_string()).unwrap(), value);
        assert!(super::json::<Value>("{").is_err());
        assert_eq!(super::json::<Vec<u8>>("[1, 2]").unwrap(), [1, 2]);
    }
}
