//! Prints the records of a trace: `cargo run -p wmfix-trace --example dump -- FILE`.

fn main() {
    let path = std::env::args_os().nth(1).expect("a trace file");
    let bytes = std::fs::read(path).expect("a readable file");
    let mut reader = wmfix_trace::Reader::new(&bytes).expect("a trace");
    println!("{:?}", reader.header());
    for record in reader.by_ref() {
        println!("{record:?}");
    }
    println!("{}", reader.ending().expect("an ending"));
}
