//! Users with few rights see what they should.

use crate::process::Server;

#[test]
fn users_are_limited_to_reading_and_to_patterns() {
    let server = Server::start(&[]);
    let mut admin = server.client();
    admin.send("APBF.RESERVE mine:t TIME 2 10 60");
    admin.send("APBF.RESERVE other:t TIME 2 10 60");
    admin.send("APBF.ADD mine:t a");
    let read_commands = "+apbf.exists +apbf.age +apbf.between +apbf.card +apbf.info";
    let write_commands = "+apbf.add +apbf.addnx +apbf.madd +apbf.insert +apbf.reserve";
    for user in [
        &format!("reader on >p ~* -@all {read_commands}"),
        &format!("writer on >p ~mine:* -@all {write_commands}"),
        "readkeys on >p %R~mine:* +@all",
        "writekeys on >p %W~mine:* +@all",
    ] {
        assert_eq!(admin.ask(&format!("ACL SETUSER {user}")), "OK");
    }
    let answers = |user: &str, expectations: &[(&str, bool)]| {
        let mut client = server.client();
        assert_eq!(client.ask(&format!("AUTH {user} p")), "OK");
        for (command, allowed) in expectations {
            let reply = client.ask(command);
            assert_eq!(!reply.starts_with("-NOPERM"), *allowed, "{user}: {command}: {reply}");
        }
    };
    let read = |key: &str| {
        ["APBF.EXISTS {} a", "APBF.AGE {} a", "APBF.BETWEEN {} 0 1 a", "APBF.CARD {}", "APBF.INFO {}"]
            .map(|command| command.replace("{}", key))
    };
    let write = |key: &str| {
        ["APBF.ADD {} a", "APBF.ADDNX {} a", "APBF.MADD {} a", "APBF.INSERT {} ITEMS a", "APBF.RESERVE {} TIME 2 10 60"]
            .map(|command| command.replace("{}", key))
    };
    let expect = |user: &str, commands: [String; 5], allowed: bool| {
        for command in &commands {
            answers(user, &[(command, allowed)]);
        }
    };
    expect("reader", read("mine:t"), true);
    expect("reader", read("other:t"), true);
    expect("reader", write("mine:t"), false);
    expect("writer", write("mine:t"), true);
    expect("writer", write("other:t"), false);
    expect("writer", read("mine:t"), false);
    expect("readkeys", read("mine:t"), true);
    expect("readkeys", read("other:t"), false);
    expect("readkeys", write("mine:t"), false);
    // to be told what is new is to read
    answers("writekeys", &[("APBF.RESERVE mine:u TIME 2 10 60", true), ("APBF.ADDNX mine:u a", false)]);
    answers("writekeys", &[("APBF.EXISTS mine:t a", false), ("APBF.RESERVE other:u TIME 2 10 60", false)]);
    assert_eq!(admin.ask("APBF.CARD other:t"), "0", "nobody wrote there");
}

/// Servers put commands of modules into categories from 7.2 on; before that, users are given commands by name.
#[test]
fn commands_are_in_the_categories_that_the_server_has() {
    let server = Server::start(&[]);
    let mut client = server.client();
    let version = client.info("server", "redis_version");
    let mut parts = version.split('.').map(|part| part.parse::<u32>().expect("a number"));
    let has_categories = (parts.next(), parts.next()) >= (Some(7), Some(2));
    for (category, command) in
        [("read", "apbf.exists"), ("write", "apbf.add"), ("fast", "apbf.add"), ("admin", "apbf.loadchunk")]
    {
        // not ACL CAT: some servers leave the commands of modules out there
        let told = client.ask(&format!("COMMAND INFO {command}"));
        assert_eq!(told.contains(&format!("@{category}")), has_categories, "{category}: {told}");
    }
}
