use super::*;

/// A client's packet.
fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let [a, b, c, ..] = payload.len().to_le_bytes();
    [&[a, b, c, sequence], payload].concat()
}

/// Payloads of the server's packets, whose numbers must count up from `sequence`.
fn payloads(mut bytes: &[u8], mut sequence: u8) -> Vec<Vec<u8>> {
    let mut payloads = Vec::new();
    while let Some((&[a, b, c, number], rest)) = bytes.split_first_chunk() {
        let (payload, rest) = rest.split_at(u32::from_le_bytes([a, b, c, 0]) as usize);
        assert_eq!(number, sequence);
        payloads.push(payload.to_vec());
        sequence = sequence.wrapping_add(1);
        bytes = rest;
    }
    payloads
}

fn login_packet(capabilities: u32) -> Vec<u8> {
    let mut login = capabilities.to_le_bytes().to_vec();
    login.extend_from_slice(&[0; 28]);
    login.extend_from_slice(b"anybody\0\x03abc");
    packet(1, &login)
}

struct Talk {
    session: Session,
    cache: Cache,
}

impl Talk {
    /// A connection that is logged in.
    fn new(fault: Option<Fault>, deprecate_eof: bool) -> Self {
        let mut talk = Self {
            session: Session::new(fault),
            cache: Cache::default(),
        };
        let eof = if deprecate_eof {
            capability::DEPRECATE_EOF
        } else {
            0
        };
        let (progress, answer) = talk.say(&login_packet(capability::PROTOCOL_41 | eof));
        assert_eq!(
            (progress.after, answer[..5].to_vec()),
            (After::GoOn, vec![7, 0, 0, 2, 0])
        );
        talk
    }

    fn say(&mut self, bytes: &[u8]) -> (Progress, Vec<u8>) {
        let mut out = Vec::new();
        let progress = self.session.consume(bytes, &mut self.cache, &mut out);
        (progress, out)
    }

    fn command(&mut self, payload: &[u8]) -> Vec<Vec<u8>> {
        payloads(&self.say(&packet(0, payload)).1, 1)
    }

    fn prepare(&mut self, sql: &str) -> Vec<Vec<u8>> {
        self.command(&[b"\x16", sql.as_bytes()].concat())
    }
}

fn execute(id: u32) -> Vec<u8> {
    [&[0x17][..], &id.to_le_bytes(), &[0, 1, 0, 0, 0]].concat()
}

#[test]
fn prepares_and_executes_a_point_select() {
    for (deprecate_eof, prepare_packets, execute_packets) in [(true, 3, 4), (false, 5, 5)] {
        let mut talk = Talk::new(None, deprecate_eof);
        let prepared = talk.prepare("SELECT c FROM sbtest1 WHERE id=?");
        assert_eq!(prepared.len(), prepare_packets);
        assert_eq!(
            prepared[0],
            [0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0],
            "number 1, one column, one parameter"
        );
        let rows = talk.command(&execute(1));
        assert_eq!(rows.len(), execute_packets);
        let row = &rows[rows.len() - 2];
        assert_eq!(
            (row[..3].to_vec(), row.len()),
            (vec![0, 0, 119], 3 + 119),
            "one text of 119 bytes, not null"
        );
    }
}

#[test]
fn statements_are_numbered_and_closed_one_by_one() {
    let mut talk = Talk::new(None, true);
    talk.prepare("SELECT 1");
    let second = talk.prepare("UPDATE sbtest1 SET k=k+1 WHERE id=?");
    assert_eq!(second[0][1..5], [2, 0, 0, 0]);
    assert_eq!(
        talk.command(&execute(2)),
        [[0, 1, 0, 2, 0, 0, 0]],
        "one row affected"
    );
    assert!(
        talk.command(&[0x19, 2, 0, 0, 0]).is_empty(),
        "a close has no answer"
    );
    assert_eq!(
        talk.command(&execute(2))[0][..3],
        [0xff, 0xdb, 0x04],
        "error 1243"
    );
    assert_eq!(talk.command(&execute(0))[0][0], 0xff);
    assert_eq!(talk.command(&execute(1))[0], [1], "the other one lives");
}

#[test]
fn many_commands_in_one_read_are_all_answered() {
    let mut talk = Talk::new(None, true);
    talk.prepare("COMMIT");
    let mut input: Vec<u8> = (0..3).flat_map(|_| packet(0, &execute(1))).collect();
    let whole = input.len();
    input.extend_from_slice(&packet(0, b"\x03BEGIN")[..6]);
    let (progress, answer) = talk.say(&input);
    assert_eq!(
        progress,
        Progress {
            used: whole,
            statements: 3,
            after: After::GoOn
        }
    );
    assert_eq!(answer.len(), 3 * 11, "an incomplete command waits");
}

#[test]
fn text_rows_carry_text() {
    let mut talk = Talk::new(None, true);
    let rows = talk.command(b"\x03SELECT id, k FROM sbtest1 WHERE id IN (4, 5)");
    assert_eq!(rows.len(), 6, "count, two columns, two rows, end");
    assert_eq!(rows[3], b"\x011\x045000");
    assert_eq!(rows[4], b"\x012\x045000");
}

#[test]
fn a_local_file_is_swallowed_and_its_lines_counted() {
    let mut talk = Talk::new(None, true);
    assert_eq!(
        talk.command(b"\x03LOAD DATA LOCAL INFILE 'x' INTO TABLE t"),
        [b"\xfbx"]
    );
    let sent = [packet(2, b"1\n2\n"), packet(3, b"3\n"), packet(4, b"")].concat();
    assert_eq!(payloads(&talk.say(&sent).1, 5), [[0, 3, 0, 2, 0, 0, 0]]);
    assert_eq!(
        talk.command(b"\x0e").len(),
        1,
        "commands are commands again"
    );
}

#[test]
fn a_command_of_sixteen_mebibytes_is_answered_once() {
    let mut talk = Talk::new(None, true);
    let mut first = vec![b' '; LONGEST_PAYLOAD];
    first[..8].copy_from_slice(b"\x03COMMIT ");
    let (progress, answer) = talk.say(&[packet(0, &first), packet(1, b"more")].concat());
    assert_eq!((progress.statements, answer.len()), (1, 11));
}

#[test]
fn tls_and_old_protocols_are_refused_in_words() {
    let mut session = Session::new(None);
    let mut out = Vec::new();
    let progress = session.consume(&packet(1, &[0; 32]), &mut Cache::default(), &mut out);
    assert_eq!((progress.after, out[4]), (After::Close, 0xff));
}

#[test]
fn unknown_commands_are_errors_and_quit_closes() {
    let mut talk = Talk::new(None, true);
    assert_eq!(talk.command(&[0x77])[0][..3], [0xff, 0x17, 0x04]);
    assert_eq!(talk.command(&[])[0][0], 0xff);
    assert_eq!(talk.say(&packet(0, &[1])).0.after, After::Close);
}

#[test]
fn every_fault_leaves_prepares_alone_and_spoils_result_sets() {
    let point_select = "SELECT c FROM sbtest1 WHERE id=?";
    let mut sound = Talk::new(None, true);
    sound.prepare(point_select);
    let right = sound.say(&packet(0, &execute(1))).1;
    for name in Fault::names().filter(|name| *name != "handshake") {
        let fault: Fault = name.parse().unwrap();
        let mut talk = Talk::new(Some(fault), true);
        assert_eq!(talk.prepare(point_select).len(), 3, "{name}");
        assert_eq!(talk.command(b"\x03COMMIT").len(), 1, "{name}");
        let (progress, wrong) = talk.say(&packet(0, &execute(1)));
        assert_ne!(wrong, right, "{name}");
        let expected = match fault {
            Fault::Truncated | Fault::MidRow | Fault::Garbage => After::Close,
            Fault::EndlessPacket => After::Flood,
            _ => After::GoOn,
        };
        assert_eq!(progress.after, expected, "{name}");
    }
    let error = "nonsense".parse::<Fault>().unwrap_err().to_string();
    assert!(
        error.contains("nonsense") && error.contains("mid-row"),
        "{error}"
    );
}

#[test]
fn a_broken_handshake_is_cut() {
    let mut out = Vec::new();
    assert_eq!(
        Session::new(Some(Fault::Handshake)).greet(1, &mut out),
        After::Close
    );
    assert!(usize::from(out[0]) + HEADER > out.len());
}
