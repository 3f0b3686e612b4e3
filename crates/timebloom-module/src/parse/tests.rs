use super::*;

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

fn reserved(line: &str) -> Result<(Kind, Creation), ParseError> {
    reserve(&words(line))
}

#[test]
fn the_published_syntax_of_reserve_is_understood() {
    let (kind, count) = reserved("COUNT 2 1000").unwrap();
    assert_eq!((kind, count.error, count.capacity), (Kind::Count, Some(GivenError::Exponent(2)), Some(1_000)));
    let (kind, time) = reserved("time 3 500 60").unwrap();
    assert_eq!((kind, time.span_ms, time.capacity), (Kind::Time, Some(60_000), Some(500)));
}

#[test]
fn every_option_finds_its_place_in_any_case_and_order() {
    let line = "TIME 0.02 0 seed 18446744073709551615 PX 250 maxbytes 70000 ONFULL shorten POLICY paper K 9 L 31";
    let (_, creation) = reserved(line).unwrap();
    assert_eq!(creation.error, Some(GivenError::Fraction(0.02)));
    assert_eq!((creation.span_ms, creation.seed, creation.max_bytes), (Some(250), Some(u64::MAX), Some(70_000)));
    assert_eq!((creation.on_full, creation.policy), (Some(OnFull::Shorten), Some(Policy::Paper)));
    assert_eq!(creation.proportions(), Ok(Some(Proportions::Pair { hashes: 9, aging_slices: 31 })));
    assert_eq!(reserved("COUNT 1 5 LEVEL 4").unwrap().1.proportions(), Ok(Some(Proportions::Level(4))));
}

#[test]
fn what_reserve_does_not_take_is_refused() {
    for line in [
        "",
        "TIME",
        "TIME 2",
        "TIME 2 100",
        "TIME 2 100 0",
        "TIME 2 100 -1",
        "TIME 2 100 60 60",
        "TIME 2 100 60 PX 5",
        "TIME 2 100 PX 5 PX 5",
        "TIME 2 100 PX",
        "TIME 2 100 PX 0",
        "TIME 2 100 PX 99999999999999999999",
        "TIME 2 100 3155760001",
        "TIME 0 100 60",
        "TIME 6 100 60",
        "TIME 0.5 100 60",
        "TIME nan 100 60",
        "TIME inf 100 60",
        "TIME -0.1 100 60",
        "TIME 1e-13 100 60",
        "TIME 2 +100 60",
        "TIME 2 1e3 60",
        "TIME 2 18446744073709551616 60",
        "TIME 2 100 60 LEVEL 6",
        "TIME 2 100 60 LEVEL 1 K 9 L 31",
        "TIME 2 100 60 K 9",
        "TIME 2 100 60 L 9",
        "TIME 2 100 60 K 0 L 9",
        "TIME 2 100 60 K 65 L 9",
        "TIME 2 100 60 K 9 L 1025",
        "TIME 2 100 60 ONFULL",
        "TIME 2 100 60 ONFULL DROP",
        "TIME 2 100 60 POLICY none",
        "TIME 2 100 60 NX",
        "TIME 2 100 60 CAPACITY 5",
        "COUNT 2 100 60",
        "COUNT 2 100 PX 60",
        "COUNT 2 100 MAXBYTES 60000",
        "COUNT 2 100 ONFULL REJECT",
        "COUNT 2 100 POLICY PAPER",
        "SPACE 2 100 60",
    ] {
        assert!(reserved(line).is_err(), "{line}");
    }
}

#[test]
fn insert_takes_options_in_any_order_and_everything_after_items_as_items() {
    let line = words("NX AT 1700000000000 CAPACITY 50 ERROR 3 EX 60 ITEMS NX ITEMS AT");
    let insert = insert(&line).unwrap();
    let creation = insert.creation.unwrap();
    assert!(insert.only_new);
    assert_eq!(insert.at, Some(1_700_000_000_000));
    assert_eq!((creation.capacity, creation.span_ms), (Some(50), Some(60_000)));
    assert_eq!(insert.items, ["NX", "ITEMS", "AT"]);
}

#[test]
fn items_may_be_any_bytes() {
    let line: [&[u8]; 4] = [b"NOCREATE", b"ITEMS", b"", b"\x00\xff\r\n"];
    let insert = insert(&line).unwrap();
    assert_eq!(insert.creation, None);
    assert_eq!(insert.items, [b"".as_slice(), b"\x00\xff\r\n"]);
}

#[test]
fn what_insert_does_not_take_is_refused() {
    for line in [
        "",
        "ITEMS",
        "a b",
        "NX",
        "NX NX ITEMS a",
        "NOCREATE NOCREATE ITEMS a",
        "NOCREATE EX 60 ITEMS a",
        "NOCREATE TIME ITEMS a",
        "AT ITEMS a",
        "AT -5 ITEMS a",
        "AT 5 AT 5 ITEMS a",
        "COUNT ITEMS a",
        "COUNT CAPACITY 5 AT 5 ITEMS a",
        "COUNT CAPACITY 5 PX 5 ITEMS a",
        "COUNT TIME CAPACITY 5 ITEMS a",
        "EX 5 PX 5 ITEMS a",
        "ERROR 9 ITEMS a",
    ] {
        assert!(insert(&words(line)).is_err(), "{line}");
    }
}

#[test]
fn errors_show_words_on_one_short_line() {
    let word = [b'\n'; 200];
    let shown = ParseError::Unexpected { word: shown(&word) }.to_string();
    assert!(shown.len() < 200 && !shown.contains('\n'), "{shown}");
}
