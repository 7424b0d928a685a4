//! The hot path allocates nothing: counted, not believed.

mod fake;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use dyno_reactor::{Stream, block_on, sleep};
use dyno_wire::sql::Template;
use dyno_wire::{Address, ConnectOptions, Connection, Value};

use fake::{CAPABILITIES, COLUMN, OK, greeting_with, packet};

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call is passed on to the system's allocator unchanged; counting touches no memory of the heap.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

const END: &[u8] = &[0xfe, 0, 0, 2, 0, 0, 0];
const ROWS: u8 = 100;

fn result(row: &[u8]) -> Vec<u8> {
    let rows = (0..ROWS).map(|index| packet(3 + index, row));
    [
        vec![packet(1, &[1]), packet(2, COLUMN)],
        rows.collect(),
        vec![packet(3 + ROWS, END)],
    ]
    .concat()
    .concat()
}

/// Answer every command with a canned result until the client hangs up.
fn serve(mut server: UnixStream) {
    server
        .write_all(&packet(
            0,
            &greeting_with("mysql_native_password", CAPABILITIES),
        ))
        .unwrap();
    let mut command = vec![0; 1 << 16];
    let _login = server.read(&mut command).unwrap();
    server.write_all(&packet(2, OK)).unwrap();
    let text = result(b"\x0242");
    let binary = result(&[0, 0, 42, 0, 0, 0]);
    let prepared = [
        packet(1, &[0, 1, 0, 0, 0, 1, 0, 2, 0, 0, 0, 0]),
        packet(2, COLUMN),
        packet(3, COLUMN),
        packet(4, COLUMN),
    ]
    .concat();
    while let Ok(5..) = server.read(&mut command) {
        let answer = match command[4] {
            0x16 => &prepared,
            0x17 => &binary,
            _ => &text,
        };
        server.write_all(answer).unwrap();
    }
}

async fn statements(
    connection: &mut Connection,
    statement: &dyno_wire::Statement,
    template: &Template,
    round: i64,
) {
    let pad = [b'x'; 120];
    let params = [Value::Int(round), Value::Bytes(&pad)];
    let outcome = connection.execute(statement, &params).await.unwrap();
    assert_eq!(outcome.rows, u64::from(ROWS));
    let mut sum = 0;
    connection
        .execute_rows(statement, &params, |row| {
            sum += row.get_i64(0)?.unwrap_or_default();
            Ok(())
        })
        .await
        .unwrap();
    connection
        .query_template_rows(template, &params, |row| {
            sum += row.get_i64(0)?.unwrap_or_default();
            Ok(())
        })
        .await
        .unwrap();
    assert_eq!(sum, 2 * 42 * i64::from(ROWS));
    connection.query_template(template, &params).await.unwrap();
    connection.query(b"SELECT 1").await.unwrap();
}

#[test]
fn statements_allocate_nothing() {
    let (near, far) = UnixStream::pair().unwrap();
    let server = std::thread::spawn(move || serve(far));
    let allocated = block_on(async {
        let mut options = ConnectOptions::new(Address::Unix("fake".into()), "user");
        options.io_timeout = Some(Duration::from_secs(20));
        let mut connection = Connection::connect_over(Stream::from_unix(near).unwrap(), &options)
            .await
            .unwrap();
        let statement = connection
            .prepare("SELECT c FROM t WHERE id = ? AND pad = ?")
            .await
            .unwrap();
        let template = Template::new("SELECT c FROM t WHERE id = ? AND pad = ?");
        for round in 0..10 {
            statements(&mut connection, &statement, &template, round).await;
        }
        let before = ALLOCATIONS.get();
        assert!(before > 0, "nothing is counted");
        for round in 0..1000 {
            statements(&mut connection, &statement, &template, round).await;
        }
        // Long enough for the reactor to look for streams that waited too long, more than once.
        sleep(Duration::from_millis(250)).await;
        ALLOCATIONS.get() - before
    });
    assert_eq!(allocated.unwrap(), 0);
    server.join().unwrap();
}
