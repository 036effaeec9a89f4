import type { App } from '../../../app/app.ts'
import type { AppUrls } from '../../../app/app-urls.ts'
import { sendEvent } from '../../../app/send/send-event.ts'
import { UpshotError } from '../../../core/errors.ts'
import { newId } from '../../../core/ids.ts'
import { asOperator } from '../../../core/store/safety/as-operator.ts'
import { isoTime } from '../../../core/time.ts'
import type { FaultInput, Sandbox } from '../../../sandbox/index.ts'
import { describeOperator } from '../../open/open-project.ts'
import { sampleData } from '../../send/sample-data.ts'
import { formatSpan } from '../../terminal/format-value.ts'
import type { Output } from '../../terminal/output.ts'

/** The states of the sandbox that `f` steps through. */
const STATES: readonly { name: string; faults: readonly FaultInput[] }[] = [
  { name: 'healthy', faults: [] },
  { name: 'slow: each call takes 2 s longer', faults: [{ on: '*', latencyMs: 2_000 }] },
  { name: 'unreliable: a third of the calls fail with 503', faults: [{ on: '*', status: 503, probability: 1 / 3 }] },
  { name: 'down: every connection is reset', faults: [{ on: '*', reset: true }] },
  {
    name: 'a bad sender: deliveries come twice, late or with a bad signature',
    faults: [
      { on: 'delivery', duplicate: true, probability: 0.4 },
      { on: 'delivery', delayMs: 3_000, probability: 0.4 },
      { on: 'delivery', signature: 'bad', probability: 0.3 },
    ],
  },
]

type Running = { app: App; urls: AppUrls }

/** The keys of `upshot dev`. */
export function devKeys({ app, urls }: Running, out: Output): Record<string, HotKey> {
  let samples = 0
  let state = 0
  return {
    t: {
      help: 'trigger: put a file into the sandbox and transfer it; without a sandbox, send a sample event',
      async press() {
        samples += 1
        out.note(await trigger({ app, urls }, samples))
      },
    },
    r: {
      help: 'send the last event again, with a new id',
      press: async () => out.note(await repeat({ app, urls })),
    },
    s: {
      help: 'skip a sleep: the run that would wake next wakes now',
      press: async () => out.note(await skipNextSleep(app)),
    },
    f: {
      help: 'faults: make the sandbox slow, unreliable, down, a bad sender, then healthy again',
      async press() {
        state = (state + 1) % STATES.length
        out.note(await setState(requireSandbox(app), state))
      },
    },
    o: { help: 'print the addresses', press: () => out.note(describeUrls(urls)) },
  }
}

/** Uses real files, so that workflows can work with them. */
async function trigger(running: Running, number: number): Promise<string> {
  const { sandbox } = running.app
  if (sandbox === null) return deliver(running, 'file.created', sampleData('file.created', running.app.clock.now()))
  const path = `/inbox/sample-${Date.now().toString(36)}-${number}.txt`
  await sandbox.storage('storage_a').put(path, `Sample ${number} of this session.\n`)
  await sandbox.transfers.start({ from: ['storage_a', path], to: ['storage_b', '/inbox/'] })
  return `Put storage_a:${path} and started its transfer to storage_b:/inbox/.`
}

async function repeat(running: Running): Promise<string> {
  const [last] = await running.app.store.listEvents({ limit: 1 })
  if (last === undefined) return 'There is no event yet. Press t to send one.'
  return deliver(running, last.type, JSON.parse(last.body).data)
}

async function deliver({ app, urls }: Running, type: string, data: Record<string, unknown>): Promise<string> {
  const now = app.clock.now()
  const [endpoint] = await app.store.listEndpoints()
  if (endpoint === undefined)
    throw new UpshotError('not_found', 'There is no endpoint. Create one with "upshot endpoints add <name>".')
  const event = { id: newId('evt', now), type, created: isoTime(now), data }
  const verdict = await sendEvent(event, {
    ...{ endpoint, receiver: urls.receiver, now },
    signal: AbortSignal.timeout(10_000),
  })
  return `Sent ${event.id} (${type}): ${verdict}.`
}

/** Waiting runs among which the next sleep is looked for: the newest. */
const MAX_SLEEPERS = 1_000

async function skipNextSleep({ clock, store, notices }: App): Promise<string> {
  const waiting = await store.listRuns({ status: 'waiting', limit: MAX_SLEEPERS })
  const due = waiting.filter(({ dueAt }) => dueAt !== null).sort((a, b) => Number(a.dueAt) - Number(b.dueAt))
  const writes = asOperator(store, describeOperator(null), clock)
  for (const { id, workflow, dueAt } of due) {
    // A run may also wait for an event with a time-out, which is no sleep.
    const steps = await store.listSteps(id, 0)
    if (!steps.some(({ kind, status }) => kind === 'sleep' && status === 'waiting')) continue
    const now = clock.now()
    const step = await writes.skipSleep(id, now)
    if (step === null) continue
    notices.publish({ kind: 'run.queued', count: 1 })
    return `Skipped the sleep "${step}" of ${workflow} (${id}), ${formatSpan(now, dueAt)} before its end.`
  }
  return 'No run sleeps.'
}

async function setState(sandbox: Sandbox, index: number): Promise<string> {
  const { name, faults } = STATES[index] ?? { name: 'healthy', faults: [] }
  await sandbox.faults.clear()
  for (const fault of faults) await sandbox.faults.add(fault)
  return `The service is now ${name}.`
}

function requireSandbox({ sandbox }: App): Sandbox {
  if (sandbox !== null) return sandbox
  throw new UpshotError('not_running', 'No sandbox is running: this app uses the real service.')
}

/** All addresses, one per line. */
export function describeUrls({ receiver, admin, endpoints, sandbox, storages }: AppUrls): string {
  const lines: [string, string | undefined][] = [
    ['receiver', receiver],
    ...Object.entries(endpoints).map(([name, url]): [string, string] => [`endpoint ${name}`, url]),
    ['health', `${admin}/readyz`],
    ['account', sandbox === undefined ? undefined : `${sandbox}/account`],
    ['storages', storages],
  ]
  return lines.flatMap(([name, url]) => (url === undefined ? [] : `  ${name.padEnd(18)} ${url}`)).join('\n')
}

/** The action of one key. It reports its own result. */
interface HotKey {
  help: string
  press(): Promise<void> | void
}

/** The part of a terminal's standard input that keys need. */
type Keyboard = NodeJS.ReadableStream & { setRawMode?: (isRaw: boolean) => void }

const CTRL_C = '\u0003'
const CTRL_D = '\u0004'

/**
 * Listens for single keys until the returned function is called. `?` or `h` lists them; `q`, Ctrl-C
 * and Ctrl-D call `leave`, each time.
 */
export function listenForHotKeys(
  out: Output,
  keys: Readonly<Record<string, HotKey>>,
  { leave }: { leave: (reason: string) => void },
): () => void {
  const keyboard = out.streams.stdin as Keyboard | undefined
  if (keyboard === undefined) return () => {}
  const busy = new Set<string>()
  const press = async (key: string) => {
    const known = keys[key]
    // A key is ignored until its last press has finished.
    if (known === undefined || busy.has(key)) return
    busy.add(key)
    try {
      await known.press()
    } catch (error) {
      out.note(`The key failed: ${error instanceof Error ? error.message : String(error)}`)
    } finally {
      busy.delete(key)
    }
  }
  const read = (chunk: Buffer | string) => {
    for (const key of chunk.toString()) {
      if (key === 'q' || key === CTRL_C || key === CTRL_D) leave(key === 'q' ? 'key q' : 'Ctrl-C')
      else if (key === '?' || key === 'h') out.note(describeKeys(keys))
      else void press(key)
    }
  }
  keyboard.setRawMode?.(true)
  keyboard.on('data', read)
  keyboard.resume()
  return () => {
    keyboard.off('data', read)
    keyboard.setRawMode?.(false)
    keyboard.pause()
  }
}

function describeKeys(keys: Readonly<Record<string, HotKey>>): string {
  const lines = Object.entries(keys).map(([key, { help }]) => `  ${key}  ${help}`)
  return ['Keys:', ...lines, '  q  stop; press it twice to exit at once', '  h  list the keys; so does ?'].join('\n')
}
