import { Argument, type Command, Option } from '@commander-js/extra-typings'
import { InvalidArgumentError } from 'commander'
import type { Fault, FaultInput } from '../../../sandbox/index.ts'
import type { Cli } from '../../command.ts'
import { countUpTo, parseMs } from '../../input/parse-option.ts'
import { type Column, formatTable } from '../../terminal/table.ts'
import { atSandbox, findSandbox, isRehearsal } from './control/sandbox-control.ts'

const TARGETS = ['*', 'files.list', 'files.get', 'files.download', 'files.delete', 'download', 'delivery'] as const

/** `upshot sandbox fault add <on>`: adds a fault. The sandbox refuses a rule without effect. */
export function add(command: Command, { out, project }: Cli): void {
  atSandbox(command)
    .addArgument(
      new Argument('<on>', 'an operation, the download host, deliveries, or * for all calls').choices(TARGETS),
    )
    .option('--times <n>', 'number of times that it occurs, from 1 (default: unlimited)', countUpTo(1_000_000))
    .option('--probability <p>', 'probability of each occurrence, from 0 to 1 (default: 1)', parseProbability)
    .option('--skip <n>', 'number of calls or deliveries to leave alone first (default: 0)', parseCount)
    .option('--status <status>', 'replies: answer with this HTTP status and its error', parseCount)
    .option('--latency <duration>', 'replies: wait this long first, such as 300ms or 2s', parseMs)
    .option('--reset', 'replies: reset the connection')
    .option('--garbage', 'replies: send a body that is not JSON, with a success status')
    .option('--html', "replies: send a gateway's HTML error page")
    .option('--cut-after <bytes>', 'replies: close the connection after this many bytes of the body', parseCount)
    .option('--stall-after <bytes>', 'replies: stop sending after this many bytes of the body', parseCount)
    .option('--bytes-per-second <n>', 'replies: send the body at this rate', parseCount)
    .option('--contradict-rate-headers', 'replies: send rate limit headers that contradict each other')
    .option('--afterwards', 'replies: perform the operation before failing')
    .option('--type <type>', 'deliveries: only of these event types, such as file.*')
    .option('--drop', 'deliveries: do not send them')
    .option('--duplicate', 'deliveries: send them twice')
    .option('--delay <duration>', "deliveries: send them this much later by the sandbox's clock, such as 1m", parseMs)
    .option('--reorder', 'deliveries: send them after the next one')
    .addOption(
      new Option('--signature <how>', 'deliveries: sign them wrongly, or as of an hour ago').choices(['bad', 'stale']),
    )
    .option('--tamper', 'deliveries: change the body after signing')
    .action(async (on, { latency, cutAfter, stallAfter, delay, url, dir, ...same }) => {
      const named = { latencyMs: latency, cutAfterBytes: cutAfter, stallAfterBytes: stallAfter, delayMs: delay }
      const given = Object.entries({ on, ...same, ...named }).filter(([, value]) => value !== undefined)
      const rule = Object.fromEntries(given) as FaultInput
      const sandbox = await findSandbox(project, { url, dir })
      if (isRehearsal(out, `add the fault ${JSON.stringify(rule)}`)) return
      const fault = await sandbox.post<Fault>('/faults', rule)
      out.result(fault, () => [`${fault.id}  ${JSON.stringify(rule)}`])
      out.note(`Remove it with "upshot sandbox fault clear ${fault.id}".`)
    })
}

function parseCount(text: string): number {
  if (/^\d{1,12}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Give a whole number.')
}

function parseProbability(text: string): number {
  const number = Number(text)
  if (text !== '' && number >= 0 && number <= 1) return number
  throw new InvalidArgumentError('Give a number from 0 to 1.')
}

const LIST_COLUMNS: Column<Fault>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'ON', value: ({ on }) => on },
  { title: 'STRUCK', value: ({ struck, times }) => (times === null ? struck : `${struck}/${times}`), align: 'right' },
  { title: 'COULD', value: ({ seen }) => seen, align: 'right' },
  { title: 'RULE', value: describeRule },
]

/** `upshot sandbox fault list`: all faults, used up ones too. */
export function list(command: Command, { out, project }: Cli): void {
  atSandbox(command).action(async (choice) => {
    const sandbox = await findSandbox(project, choice)
    const faults = await sandbox.get<Fault[]>('/faults')
    out.result(faults, () => formatTable(faults, LIST_COLUMNS, out))
    if (faults.length === 0) out.note('No fault. Add one with "upshot sandbox fault add <on>".')
  })
}

function describeRule({ id: _id, on: _on, seen: _seen, struck: _struck, times: _times, ...rule }: Fault): string {
  return JSON.stringify(rule)
}

/** `upshot sandbox fault clear [fault]`: removes one fault, or all. */
export function clear(command: Command, { out, project }: Cli): void {
  atSandbox(command)
    .argument('[fault]', 'id of the fault, flt_…, from "upshot sandbox fault list" (default: all)')
    .action(async (id, choice) => {
      const sandbox = await findSandbox(project, choice)
      const before = await sandbox.get<Fault[]>('/faults')
      const cleared = id === undefined ? before.map((fault) => fault.id) : [id]
      if (isRehearsal(out, `remove ${cleared.length} faults`)) return
      await sandbox.delete(id === undefined ? '/faults' : `/faults/${encodeURIComponent(id)}`)
      out.result({ cleared }, () => [`Removed ${cleared.length} ${cleared.length === 1 ? 'fault' : 'faults'}.`])
    })
}
