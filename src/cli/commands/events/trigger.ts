import type { Command } from '@commander-js/extra-typings'
import { InvalidArgumentError } from 'commander'
import { z } from 'zod'
import type { AnswerOf } from '../../../admin/client/index.ts'
import { refuse } from '../../../core/errors.ts'
import { newId } from '../../../core/ids.ts'
import type { ServiceEvent } from '../../../core/incoming/event.ts'
import { parseEvent } from '../../../core/incoming/parse-event.ts'
import { isPlainObject, parseJson } from '../../../core/json.ts'
import { isoTime } from '../../../core/time.ts'
import type { Cli } from '../../command.ts'
import { commandClock } from '../../command-clock.ts'
import { countUpTo, gather } from '../../input/parse-option.ts'
import { readStdin, readText } from '../../input/read-source.ts'
import { call } from '../../open/operations.ts'
import { ANSWER_WITHIN_MS, findRunningApp, type RunningApp } from '../../open/running-app.ts'
import { isDryRun } from '../../operate/act-command.ts'
import { sampleData } from '../../send/sample-data.ts'
import { onInterrupt } from '../../terminal/on-interrupt.ts'
import { type Column, formatTable } from '../../terminal/table.ts'

type Sent = AnswerOf<'POST /events'> & { type: string }

export function define(command: Command, { out, project }: Cli): void {
  command
    .argument('<type>', 'type of the event, such as file.created or transfer.completed', parseType)
    .option('--set <field=value>', 'set a field, such as data.file.name=report.pdf; can be repeated', gather)
    .option('--file <file>', 'JSON file with the data, or - for standard input (default: as of the last such event)')
    .option('--endpoint <name>', 'name of the endpoint (default: the first one)')
    .option('--count <n>', 'number of events, 1 to 10000, each with its own id', countUpTo(10_000), 1)
    .option('--duplicate', 'send each event twice, as the service may do')
    .action(async (type, { set = [], file, endpoint, count, duplicate = false }) => {
      const given = file === undefined ? null : await readEventData(file)
      await project.withOperations(async (operations) => {
        const { local } = operations
        const app = local && given === null ? await findRunningApp(local.config) : null
        const data = given ?? (app && (await findRecentData(type, app)))
        const first = makeEvent(type, data, set)
        if (await isDryRun(out, describeSending(first, { count, duplicate }))) return
        const signal = onInterrupt()
        const sent: Sent[] = []
        for (let number = 0; number < count; number++) {
          const event = makeEvent(type, data, set)
          for (let time = 0; time < (duplicate ? 2 : 1); time++) {
            signal.throwIfAborted()
            const body = { ...event, endpoint }
            sent.push({ type, ...(await call(operations, 'POST /events', { body }, { signal })) })
          }
        }
        out.result({ deliveries: sent }, () => formatTable(sent, COLUMNS, out))
        out.note(adviseNext(sent))
      })
    })
}

function describeSending({ type, data }: ServiceEvent, { count, duplicate }: { count: number; duplicate: boolean }) {
  const events = `${count} ${count === 1 ? 'event' : 'events'} of type ${type}`
  return { will: `send ${events}${duplicate ? ', each twice' : ''}`, things: [JSON.stringify(data)] }
}

function makeEvent(type: string, data: Record<string, unknown> | null, assignments: readonly string[]): ServiceEvent {
  const now = commandClock.now()
  const filled = setFields(data ?? sampleData(type, now), assignments)
  return parseEvent({ id: newId('evt', now), type, created: isoTime(now), data: filled })
}

/** Reads a type; refuses what the receiver would refuse. */
function parseType(text: string): string {
  try {
    return parseEvent({ id: 'evt_0', type: text, created: isoTime(0), data: {} }).type
  } catch {
    throw new InvalidArgumentError('Give words separated by dots, such as file.created.')
  }
}

const COLUMNS: Column<Sent>[] = [
  { title: 'EVENT', value: ({ event }) => event },
  { title: 'TYPE', value: ({ type }) => type },
  {
    title: 'VERDICT',
    value: ({ verdict }) => verdict,
    style: ({ verdict }) => (verdict === 'accepted' ? 'green' : null),
  },
  { title: 'RUNS', value: ({ runs }) => (runs.length === 0 ? null : runs.join(' ')), most: 120 },
]

function adviseNext(sent: readonly Sent[]): string {
  const [run] = sent.flatMap(({ runs }) => runs)
  if (run !== undefined) return `Show the run: upshot runs show ${run}`
  return 'No workflow starts on it, or the endpoint ignores it. A run that waits for it, or that it cancels, gets it.'
}

/** The `data` of an event, from a file or stdin (`-`) that holds a whole event or its data. */
export async function readEventData(source: string): Promise<Record<string, unknown>> {
  const text = source === '-' ? await readStdin('the event') : readText(source)
  const value = parseJson(text)
  if (!isPlainObject(value))
    throw refuse(`${nameOf(source)} does not hold a JSON object.`, 'Give a whole event, or its data, as a JSON object.')
  return isPlainObject(value.data) ? value.data : value
}

/** A copy of `data` with each `data.a.b=value` set. A value that is not JSON is text. */
export function setFields(data: Record<string, unknown>, assignments: readonly string[]): Record<string, unknown> {
  const copy = structuredClone(data)
  for (const assignment of assignments) setField(copy, assignment)
  return copy
}

function setField(data: Record<string, unknown>, assignment: string): void {
  const [, path, text] = /^data\.([^=]+)=(.*)$/s.exec(assignment) ?? []
  const names = path?.split('.') ?? []
  const last = names.pop()
  if (!last || text === undefined || [...names, last].some(isForbidden)) {
    throw refuse(`"${assignment}" sets no field.`, 'Write data.<field>=<value>, such as data.file.name=report.pdf.')
  }
  let parent = data
  for (const name of names) {
    const child = parent[name]
    const next = isPlainObject(child) ? child : {}
    parent[name] = next
    parent = next
  }
  const value = parseJson(text)
  parent[last] = value === undefined ? text : value
}

/** `__proto__` would change every object; the receiver refuses these names too. */
function isForbidden(name: string): boolean {
  return name === '' || name === '__proto__' || name === 'constructor'
}

function nameOf(source: string): string {
  return source === '-' ? 'Standard input' : `The file ${source}`
}

const events = z.object({ data: z.array(z.object({ data: z.record(z.string(), z.unknown()) })) })

/**
 * The data of the sandbox's newest event of this type: its files exist, so workflows can follow it.
 * Null without a sandbox, or without such an event.
 */
async function findRecentData(
  type: string,
  { sandbox }: Pick<RunningApp, 'sandbox'>,
): Promise<Record<string, unknown> | null> {
  if (sandbox === null) return null
  const response = await fetch(`${sandbox.origin}/_sandbox/events?type=${encodeURIComponent(type)}`, {
    signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
  })
  const found = events.safeParse(await response.json())
  return found.success ? (found.data.data.at(-1)?.data ?? null) : null
}
