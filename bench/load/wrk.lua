-- Sends each record of a slice once.
-- Arguments: record file, bytes of an id, bytes of a signature, first record, number of records,
-- number of threads, then three files: the request before, between and after signature and id.

local threads = 0

function setup(thread)
  thread:set("number", threads)
  threads = threads + 1
end

local function read_file(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read("*a")
  file:close()
  return text
end

function init(args)
  id_bytes = tonumber(args[2])
  signature_bytes = tonumber(args[3])
  local from, count, sharers = tonumber(args[4]), tonumber(args[5]), tonumber(args[6])
  share = math.floor(count / sharers)
  sent = 0
  records = assert(io.open(args[1], "rb"))
  records:seek("set", (from + number * share) * (id_bytes + signature_bytes))
  before, between, after = read_file(args[7]), read_file(args[8]), read_file(args[9])
end

function request()
  sent = sent + 1
  -- A request past the thread's share is refused, which fails the burst. A repeated delivery would
  -- pass unnoticed.
  if sent > share then return before .. "used-up" .. between .. string.rep("0", id_bytes) .. after end
  local id = records:read(id_bytes)
  local signature = records:read(signature_bytes)
  return before .. signature .. between .. id .. after
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\n{"requests":%d,"micros":%d,"refused":%d,"broken":%d,"p50":%d,"p99":%d}\n',
    summary.requests, summary.duration, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout,
    latency:percentile(50), latency:percentile(99)))
end
