//! Checks of the records of a name, by a query to a DNS server.

use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use simple_dns::rdata::RData;
use simple_dns::{CLASS, Name, Packet, PacketFlag, Question, RCODE, TYPE};
use tidewatch_limits as limits;
use tidewatch_runtime::outbound::policy::OutboundPolicy;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UdpSocket};

use crate::connection::{Observed, add};

const RESOLVER_FILE: &str = "/etc/resolv.conf";
const DNS_PORT: u16 = 53;
/// Size of an answer over UDP. RFC 1035, 4.2.1, and larger ones of servers that ignore it.
const DATAGRAM_BYTES_MAX: usize = 4096;

/// A type of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordType {
    /// IPv4 address.
    A,
    /// IPv6 address.
    Aaaa,
    /// Another name.
    Cname,
    /// Mail servers.
    Mx,
    /// Name servers.
    Ns,
    /// Strings.
    Txt,
}

/// Records to query.
#[derive(Debug, Clone, Copy)]
pub struct DnsRequest<'a> {
    /// The name.
    pub name: &'a str,
    /// The type of its records.
    pub record_type: RecordType,
    /// The DNS server; `None`: that of the machine.
    pub server: Option<SocketAddr>,
}

/// Queries the records and returns their values.
pub async fn check(
    policy: OutboundPolicy,
    request: DnsRequest<'_>,
    observed: &mut Observed,
    start: Instant,
) -> Result<Vec<String>, String> {
    let server = match request.server {
        Some(server) => {
            // The machine's own server is the operator's choice; this one is a user's.
            policy.check(server.ip()).map_err(|error| error.to_string())?;
            server
        }
        None => machine_server().await?,
    };
    let id = fastrand::u16(..);
    let query = query(request, id)?;
    let sent = Instant::now();
    let mut answer = by_datagram(server, &query, id).await?;
    if has_flag(&answer, PacketFlag::TRUNCATION) {
        answer = by_stream(server, &query).await?;
    }
    add(&mut observed.timings.dns_ns, sent);
    let found = records(request, id, &answer)?;
    observed.answered(start);
    if !policy.allows_private {
        // Names of inside networks are nobody's business.
        for address in found.iter().filter_map(|value| value.parse::<IpAddr>().ok()) {
            policy.check(address).map_err(|error| error.to_string())?;
        }
    }
    Ok(found)
}

/// The first DNS server of the machine.
async fn machine_server() -> Result<SocketAddr, String> {
    let file = tokio::fs::read_to_string(RESOLVER_FILE).await;
    let file = file.map_err(|error| format!("{RESOLVER_FILE} cannot be read: {error}"))?;
    let servers = file.lines().filter_map(|line| line.strip_prefix("nameserver"));
    let mut addresses = servers.filter_map(|server| Some(SocketAddr::new(server.trim().parse().ok()?, DNS_PORT)));
    addresses.next().ok_or_else(|| format!("{RESOLVER_FILE} names no DNS server"))
}

fn record_type(kind: RecordType) -> TYPE {
    match kind {
        RecordType::A => TYPE::A,
        RecordType::Aaaa => TYPE::AAAA,
        RecordType::Cname => TYPE::CNAME,
        RecordType::Mx => TYPE::MX,
        RecordType::Ns => TYPE::NS,
        RecordType::Txt => TYPE::TXT,
    }
}

fn query(request: DnsRequest<'_>, id: u16) -> Result<Vec<u8>, String> {
    let name = request.name.trim_end_matches('.');
    let name = Name::new(name).map_err(|_| format!("{name} is no name"))?;
    let mut packet = Packet::new_query(id);
    packet.set_flags(PacketFlag::RECURSION_DESIRED);
    packet.questions.push(Question::new(name, record_type(request.record_type).into(), CLASS::IN.into(), false));
    packet.build_bytes_vec().map_err(|error| format!("the query cannot be made: {error}"))
}

/// Sends the query until an answer arrives; the caller limits the time.
async fn by_datagram(server: SocketAddr, query: &[u8], id: u16) -> Result<Vec<u8>, String> {
    /// Time after which a datagram counts as lost.
    const AGAIN: Duration = Duration::from_secs(2);
    let failed = |error: std::io::Error| format!("the DNS server {server} does not answer: {error}");
    let any: SocketAddr = if server.is_ipv4() { ([0; 4], 0).into() } else { ([0_u16; 8], 0).into() };
    let socket = UdpSocket::bind(any).await.map_err(failed)?;
    // Datagrams of other senders are not received.
    socket.connect(server).await.map_err(failed)?;
    loop {
        socket.send(query).await.map_err(failed)?;
        let receive = async {
            loop {
                let mut answer = vec![0; DATAGRAM_BYTES_MAX];
                let length = socket.recv(&mut answer).await?;
                answer.truncate(length);
                if simple_dns::header_buffer::id(&answer) == Ok(id) {
                    return Ok::<_, std::io::Error>(answer);
                }
            }
        };
        if let Ok(received) = tokio::time::timeout(AGAIN, receive).await {
            return received.map_err(failed);
        }
    }
}

/// Sends the query over TCP, for answers that are too long. RFC 1035, 4.2.2.
async fn by_stream(server: SocketAddr, query: &[u8]) -> Result<Vec<u8>, String> {
    let exchange = async {
        let mut stream = TcpStream::connect(server).await?;
        let length = u16::try_from(query.len()).map_err(std::io::Error::other)?;
        stream.write_all(&[&length.to_be_bytes()[..], query].concat()).await?;
        let mut answer = vec![0; usize::from(stream.read_u16().await?)];
        stream.read_exact(&mut answer).await?;
        Ok(answer)
    };
    exchange.await.map_err(|error: std::io::Error| format!("the DNS server {server} does not answer: {error}"))
}

fn has_flag(answer: &[u8], flag: PacketFlag) -> bool {
    simple_dns::header_buffer::has_flags(answer, flag).unwrap_or(false)
}

/// The values of the records of the type in an answer.
fn records(request: DnsRequest<'_>, id: u16, answer: &[u8]) -> Result<Vec<String>, String> {
    let packet = Packet::parse(answer).map_err(|_| "the DNS server sent no valid answer".to_owned())?;
    if packet.id() != id || !packet.has_flags(PacketFlag::RESPONSE) {
        return Err("the DNS server sent no valid answer".to_owned());
    }
    match packet.rcode() {
        RCODE::NoError => {}
        RCODE::NameError => return Err(format!("there is no name {}", request.name)),
        code => return Err(format!("the DNS server failed: {code:?}")),
    }
    let value = |data: &RData<'_>| match (request.record_type, data) {
        (RecordType::A, RData::A(address)) => Some(std::net::Ipv4Addr::from(address.address).to_string()),
        (RecordType::Aaaa, RData::AAAA(address)) => Some(std::net::Ipv6Addr::from(address.address).to_string()),
        (RecordType::Cname, RData::CNAME(name)) => Some(name.to_string()),
        (RecordType::Ns, RData::NS(name)) => Some(name.to_string()),
        (RecordType::Mx, RData::MX(mail)) => Some(format!("{} {}", mail.preference, mail.exchange)),
        (RecordType::Txt, RData::TXT(strings)) => String::try_from(strings.clone()).ok(),
        _ => None,
    };
    let found = packet.answers.iter().filter_map(|record| value(&record.rdata));
    Ok(found.take(limits::MONITOR_HEADERS_MAX).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Answers are foreign bytes.
        #[test]
        fn any_answer_is_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200), start in any::<bool>()) {
            let request = DnsRequest { name: "example.com", record_type: RecordType::Txt, server: None };
            let mut answer = bytes;
            if start {
                let head = [0, 7, 0x81, 0x80, 0, 0, 0, 1, 0, 0, 0, 0];
                answer.splice(0..0, head);
            }
            let _ = records(request, 7, &answer);
            let _ = has_flag(&answer, PacketFlag::TRUNCATION);
        }
    }
}
