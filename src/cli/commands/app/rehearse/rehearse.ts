import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from '@commander-js/extra-typings'
import { findEvent } from '../../../../admin/queries/find-event.ts'
import type { NamedFile } from '../../../../app/rehearsal/gather-files.ts'
import type { Rehearsal } from '../../../../app/rehearsal/rehearsal.ts'
import { refuse, UpshotError } from '../../../../core/errors.ts'
import type { EventRecord } from '../../../../core/incoming/event.ts'
import { findReplayObstacle } from '../../../../core/safety/bulk.ts'
import { DEFAULT_ACCOUNT } from '../../../../core/service/account.ts'
import type { StorageSpellings } from '../../../../core/service/storage.ts'
import type { ReadStore } from '../../../../core/store/store.ts'
import { processEnvironment } from '../../../../project/config/environment.ts'
import type { Config } from '../../../../project/config/load-config.ts'
import type { Cli } from '../../../command.ts'
import { commandClock } from '../../../command-clock.ts'
import { gather, parseMs } from '../../../input/parse-option.ts'
import { formatFailure } from '../../../terminal/format-value.ts'
import { onInterrupt } from '../../../terminal/on-interrupt.ts'
import { readFaults } from '../../sandbox/fault.ts'
import { describeReport, formatReport, type Report, readReport } from './rehearsal-report.ts'

/** Runs of an event whose reads name files. */
const MAX_RUNS = 10
/** The longest timer of Node, in milliseconds: 24 days. */
const MAX_WITHIN_MS = 2 ** 31 - 1
const MADE_UP = `
The bytes of files are made up here, and a run has failed that reads some. Give it real ones:
  --bytes <path>=<file of this machine>`

export function define(command: Command, { out, project }: Cli): void {
  command
    .argument('<id>', 'id of the event, evt_…, or its beginning')
    .optionsGroup('Which event:')
    .option('--account <name>', 'account of the event, if several have one with this id')
    .optionsGroup('Answers (default: a sandbox without faults, with made-up bytes):')
    .option('--bytes <path=file>', 'give a file of the event these bytes; may be repeated', gather)
    .option('--faults <rules>', 'order faults in the sandbox, such as "files.delete 503 x2"; may be repeated', gather)
    .option('--allow-host <host>', 'let workflows reach this host beside the sandbox; may be repeated', gather)
    .option('--env <name>', 'give workflows this variable of the environment; may be repeated', gather)
    .optionsGroup('Result:')
    .option('--within <duration>', 'give up after this time (default: 60s)', parseMs)
    .option('--keep', 'keep app and sandbox until Ctrl-C, to look at them in the dashboard')
    .action(async (id, { account, allowHost: hosts = [], env: names = [], within = 60_000, keep = false, ...more }) => {
      const signal = onInterrupt()
      const faults = readFaults(more.faults ?? [])
      const {
        event,
        files: named,
        spellings,
        config,
      } = await project.withReads((store, loaded) => {
        return readFacts(store, loaded, { id, account })
      })
      const files = giveBytes(named, more.bytes ?? [])
      const { awaitRest, Rehearsal: Opened } = await import('../../../../app/rehearsal/rehearsal.ts')
      const { prepareEvent } = await import('../../../../app/rehearsal/gather-files.ts')
      const about = { root: project.root, account: event.account, hosts, variables: readVariables(names), signal }
      await using rehearsal = await Opened.open({ config, files, ...about })
      for (const { file, error } of rehearsal.broken) out.note(`${file} cannot be loaded: ${formatFailure(error)}`)
      const before = rehearsal.listFiles()
      for (const { rule } of faults) await rehearsal.sandbox.faults.add(rule)
      await rehearsal.deliver(event.id, prepareEvent(event.body, spellings))
      const isAtRest = await awaitRest(
        rehearsal,
        AbortSignal.any([signal, AbortSignal.timeout(Math.min(within, MAX_WITHIN_MS))]),
      )
      signal.throwIfAborted()
      const report = await readReport(rehearsal, { event, before, hosts, isAtRest, faults })
      out.result(describeReport(report), () => formatReport(report, out))
      if (report.runs.length === 0) out.leaveWith('notFound')
      if (report.refused.length > 0) out.leaveWith('difference')
      if (!isAtRest || report.runs.some(({ status }) => status === 'failed')) out.leaveWith('failed')
      const hasBytes = more.bytes !== undefined
      if (!hasBytes && hasReadMadeUp(report)) out.note(MADE_UP)
      const waits = report.runs.some(({ status }) => status === 'waiting')
      if (waits && !keep) out.note('A run waits. Add --keep to answer it in the dashboard of the rehearsal.')
      if (keep) await stay(out, rehearsal, signal)
    })
}

/** Whether a run has failed, and bytes of files were read. */
function hasReadMadeUp({ runs, requests }: Report): boolean {
  const hasRead = requests.some(({ operation }) => operation === 'files.download')
  return hasRead && runs.some(({ status }) => status === 'failed')
}

interface Facts {
  event: EventRecord
  files: NamedFile[]
  spellings: StorageSpellings
  config: Config
}

/** The event and the files that its database knows of. Reads alone. */
async function readFacts(
  store: ReadStore,
  config: Config,
  sought: { id: string; account: string | undefined },
): Promise<Facts> {
  const { gatherFiles } = await import('../../../../app/rehearsal/gather-files.ts')
  const event = await findEvent(store, sought, commandClock.now)
  const obstacle = findReplayObstacle(event)
  if (obstacle !== null) {
    throw new UpshotError('conflict', `${event.id} cannot be rehearsed: ${obstacle}.`, {
      fix: 'Choose a newer event, or keep bodies for longer with `retention.payloads`.',
    })
  }
  const own = config.service.kind === 'real' ? config.service.storages : {}
  const isOwn = event.account === DEFAULT_ACCOUNT
  const spellings = isOwn ? own : ((await store.findAccount(event.account))?.storages ?? {})
  const steps = await readSteps(store, event)
  return { event, files: gatherFiles(JSON.parse(event.body), steps, spellings), spellings, config }
}

/** The steps of the event's first runs, which saw its files as they were. */
async function readSteps(store: ReadStore, { id, account }: EventRecord) {
  const runs = (await store.listRuns({ eventId: id, account, limit: 1_000 })).toReversed().slice(0, MAX_RUNS)
  const recordings = await store.readRecordings(runs.map((run) => run.id))
  const steps = recordings.flatMap(({ run, steps: all }) => all.map((step) => ({ run: run.id, ...step })))
  return Promise.all(
    steps.map(async ({ run, apartBytes, ...step }) => ({
      ...step,
      output: apartBytes === undefined ? step.output : await store.readOutput(run, step.key),
    })),
  )
}

function readVariables(names: readonly string[]): Record<string, string> {
  const environment = processEnvironment()
  const found = names.map((name) => [name, environment[name]] as const)
  const [missing] = found.find(([, value]) => value === undefined) ?? []
  if (missing === undefined) return Object.fromEntries(found.map(([name, value]) => [name, value ?? '']))
  throw new UpshotError('invalid_request', `--env ${missing}: the environment has no such variable.`, {
    fix: 'Set it for this command, or in the file .env of the project.',
  })
}

async function stay(out: Cli['out'], rehearsal: Rehearsal, signal: AbortSignal): Promise<void> {
  out.note(`\nThe dashboard of the rehearsal, with a login for ten minutes: ${await rehearsal.makeLink()}`)
  out.note(`Its sandbox: ${rehearsal.sandbox.origin}. All its data: ${rehearsal.folder}. Ctrl-C ends it.`)
  await new Promise((resolve) => {
    // The timer keeps the process; a listener alone does not.
    const timer = setInterval(() => {}, 60_000)
    const end = () => resolve(clearInterval(timer))
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
  })
}

/** Paths that an error lists. */
const MAX_PATHS = 5

/** The files, some with bytes of this machine, by `<path>=<file>`. Throws `invalid_request`. */
export function giveBytes(files: readonly NamedFile[], given: readonly string[]): NamedFile[] {
  const wanted = new Map(given.map(readPair))
  const own = files.map((file) => {
    const from = wanted.get(`${file.storage}:${file.path}`) ?? wanted.get(file.path ?? '')
    return from === undefined ? file : { ...file, from }
  })
  for (const place of wanted.keys()) {
    const isFound = files.some(({ storage, path }) => place === path || place === `${storage}:${path}`)
    if (!isFound) throw refuseUnknown(place, files)
  }
  return own
}

function readPair(text: string): [place: string, from: string] {
  const at = text.lastIndexOf('=')
  const [place, from] = [text.slice(0, at), resolve(text.slice(at + 1))]
  if (at < 1) throw refuse(`--bytes ${text}: no file is named.`, 'Write --bytes <path>=<file of this machine>.')
  if (statSync(from, { throwIfNoEntry: false })?.isFile() === true) return [place, from]
  throw refuse(`--bytes ${text}: ${from} is no file.`, 'Name a file of this machine after the "=".')
}

function refuseUnknown(place: string, files: readonly NamedFile[]): UpshotError {
  const paths = files.filter(({ path, type }) => path !== null && type === 'file').map((file) => file.path)
  const [first, more] = [paths.slice(0, MAX_PATHS).join(', ') || 'none', paths.length > MAX_PATHS ? ' …' : '']
  const fix = `Files that the event and its runs name: ${first}${more}`
  return refuse(`--bytes ${place}: neither the event nor a run of it names this file.`, fix)
}
