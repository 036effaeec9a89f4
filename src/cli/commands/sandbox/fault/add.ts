import { Argument, type Command, Option } from '@commander-js/extra-typings'
import { InvalidArgumentError } from 'commander'
import { parseDuration } from '../../../../core/time.ts'
import type { Fault, FaultInput } from '../../../../sandbox/index.ts'
import { countUpTo } from '../../../input/parse-option.ts'
import type { Output } from '../../../terminal/output.ts'
import { atSandbox, findSandbox, isRehearsal } from '../control/sandbox-control.ts'

const TARGETS = ['*', 'files.list', 'files.get', 'files.download', 'files.delete', 'download', 'delivery'] as const

/** `upshot sandbox fault add <on>`: the sandbox itself refuses a rule that would do nothing. */
export function define(command: Command, out: Output): void {
  atSandbox(command)
    .addArgument(
      new Argument('<on>', 'where: an operation, the download host, deliveries, or * for every call').choices(TARGETS),
    )
    .option('--times <n>', 'it strikes so often, then is used up (default: for ever)', countUpTo(1_000_000))
    .option('--probability <p>', 'how likely it strikes each time, from 0 to 1', parseProbability)
    .option('--skip <n>', 'it lets so many pass first', parseCount)
    .option('--status <status>', 'replies: answer with this status and its error', parseCount)
    .option('--latency <duration>', 'replies: wait first, such as 2s', parseMs)
    .option('--reset', 'replies: reset the connection')
    .option('--garbage', 'replies: what is no JSON, with a status of success')
    .option('--html', "replies: a gateway's page")
    .option('--cut-after <bytes>', 'replies: end the connection in the body', parseCount)
    .option('--stall-after <bytes>', 'replies: go silent in the body', parseCount)
    .option('--bytes-per-second <n>', 'replies: let the body trickle', parseCount)
    .option('--contradict-rate-headers', 'replies: rate limit headers that cannot all be true')
    .option('--afterwards', 'replies: the operation happens all the same')
    .option('--type <type>', 'deliveries: only of events of this type, such as file.*')
    .option('--drop', 'deliveries: never sent')
    .option('--duplicate', 'deliveries: sent twice')
    .option('--delay <duration>', "deliveries: sent later, by the sandbox's clock", parseMs)
    .option('--reorder', 'deliveries: sent after the next one')
    .addOption(new Option('--signature <how>', 'deliveries: signed wrongly, or an hour ago').choices(['bad', 'stale']))
    .option('--tamper', 'deliveries: changed after they were signed')
    .action(async (on, { latency, cutAfter, stallAfter, delay, url, dir, ...same }) => {
      const named = { latencyMs: latency, cutAfterBytes: cutAfter, stallAfterBytes: stallAfter, delayMs: delay }
      const given = Object.entries({ on, ...same, ...named }).filter(([, value]) => value !== undefined)
      const rule = Object.fromEntries(given) as FaultInput
      const sandbox = await findSandbox({ url, dir })
      if (isRehearsal(out, `add the fault ${JSON.stringify(rule)}`)) return
      const fault = await sandbox.post<Fault>('/faults', rule)
      out.result(fault, () => [`${fault.id}  ${JSON.stringify(rule)}`])
      out.note(`It is over with "upshot sandbox fault clear ${fault.id}".`)
    })
}

function parseCount(text: string): number {
  if (/^\d{1,12}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It is a whole number.')
}

function parseProbability(text: string): number {
  const number = Number(text)
  if (text !== '' && number >= 0 && number <= 1) return number
  throw new InvalidArgumentError('It is a number from 0 to 1.')
}

function parseMs(text: string): number {
  try {
    return parseDuration(text)
  } catch {
    throw new InvalidArgumentError('Write a duration, such as 300ms, 2s or 1m.')
  }
}
