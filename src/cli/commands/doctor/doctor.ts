import type { Command } from '@commander-js/extra-typings'
import { listSilent, listUnmatched } from '../../../admin/queries/list-unmatched.ts'
import { refuse } from '../../../core/errors.ts'
import { describeBroken } from '../../../core/runs/workflow-record.ts'
import { listBrokenModules } from '../../../core/store/process-record.ts'
import type { ReadStore } from '../../../core/store/store.ts'
import type { Config } from '../../../project/config/load-config.ts'
import { hasDatabase } from '../../../project/data-dir/data-files.ts'
import { hasRuntimeFile, removeRuntimeFile } from '../../../project/data-dir/runtime-file.ts'
import type { Cli } from '../../command.ts'
import { commandClock } from '../../command-clock.ts'
import type { Project } from '../../open/open-project.ts'
import { call } from '../../open/operations.ts'
import { findRunningApp, probeKeyOf, type RunningApp } from '../../open/running-app.ts'
import { confirm } from '../../terminal/confirm.ts'
import type { Output } from '../../terminal/output.ts'
import { describeProblem } from '../../terminal/problem.ts'
import { describeUnmatched } from '../workflows.ts'
import { checkDatabase } from './check-database.ts'
import { checkDisk, checkNode, checkPorts, checkRights, checkVariables, checkWorkflows } from './check-machine.ts'
import { checkGuard, checkLedger, checkSafety, checkSweeps, checkWeeks } from './check-safety.ts'
import { checkEndpoints, checkService, checkWaits } from './check-service.ts'
import { type Finding, fail, ok, type Repair, warn } from './finding.ts'

interface DoctorOptions {
  isTryingDelete: boolean
}

/** `upshot doctor`: runs all checks; exits with 7 if one fails. Changes nothing without `--fix`. */
export function define(command: Command, { out, project }: Cli): void {
  command
    .option('--fix', 'repair what can be repaired, after a confirmation')
    .option('--try-delete', 'also check that the API key can delete, with a file that does not exist')
    .action(async ({ fix = false, tryDelete = false }) => {
      const options = { isTryingDelete: tryDelete }
      if (await project.isFar()) {
        if (fix || tryDelete) throw refuse('At a server, the doctor examines and does nothing else.', ONLY_EXAMINES)
        const { findings } = await project.withOperations((far) => call(far, 'POST /doctor', { body: {} }))
        return report(out, { findings, mended: [] })
      }
      const findings = await examine(project, options)
      const repairs = fix ? findings.flatMap(({ repair }) => repair ?? []) : []
      const isRepairing = repairs.length > 0 && (await agree(repairs, out))
      if (isRepairing) for (const repair of repairs) repair.perform()
      const mended = isRepairing ? repairs.map(({ will }) => will) : []
      report(out, { findings: isRepairing ? await examine(project, options) : findings, mended })
    })
}

const ONLY_EXAMINES = 'Leave out --fix and --try-delete, or run it on the machine of the app.'

/** Runs all checks in order. Without a valid configuration most are left out. */
async function examine(project: Project, { isTryingDelete }: DoctorOptions): Promise<Finding[]> {
  const config = await readConfig(project)
  if ('level' in config) return [checkNode(), config]
  const { root } = project
  const app = await findRunningApp(config)
  const database = await checkDatabase(project, config)
  return [
    checkNode(),
    ok('config', `valid, with ${config.service.kind === 'real' ? 'the real service' : 'the sandbox'}`),
    ...checkVariables(config),
    ...checkRights(config, root),
    checkDisk(config, root),
    ...checkWorkflows(config),
    ...database,
    ...checkGuard(config),
    ...(database[0]?.level === 'fail' ? [] : await checkContent(project, config)),
    checkApp(config, app),
    ...(app === null ? await checkPorts(config) : []),
    ...(app === null ? [] : await checkDoors(project, config, app)),
    ...(await checkService(config, { app, isTryingDelete })),
  ]
}

async function readConfig(project: Project): Promise<Config | Finding> {
  try {
    return await project.load({}, { isApp: true })
  } catch (error) {
    const problem = describeProblem(error)
    return fail('config', problem?.message ?? 'unknown error', { fix: problem?.fix ?? '' })
  }
}

function checkApp({ dataDir }: Config, app: RunningApp | null): Finding {
  if (app !== null) {
    const faults = Object.entries(app.checks).flatMap(([name, result]) => (result === 'ok' ? [] : `${name}: ${result}`))
    if (app.isReady) return ok('app', `ready: process ${app.pid}`)
    return fail('app', `process ${app.pid} is not ready (${faults.join(', ')})`, { fix: 'See its log.' })
  }
  if (!hasRuntimeFile(dataDir)) return ok('app', 'none is running here')
  return warn('app', 'none is running here, and the last one did not stop in order', {
    fix: 'Start it: it continues where it was. Its log shows why it ended.',
    repair: { will: 'delete the runtime file of the app that is gone', perform: () => removeRuntimeFile(dataDir) },
  })
}

const CONTENT = [
  checkModules,
  checkWeeks,
  checkLedger,
  checkSafety,
  checkSweeps,
  checkUnmatched,
  checkSilent,
  checkWaits,
]

/** Findings about the content of the database; none where it cannot be opened. */
async function checkContent(project: Project, config: Config): Promise<Finding[]> {
  if (!hasDatabase(config)) return []
  const examine = (store: ReadStore) => Promise.all(CONTENT.map((check) => check(store, config).catch(() => [])))
  return (await project.withStore(examine).catch(() => [])).flat()
}

/** One finding for each module that a process at work could not load. */
async function checkModules(store: ReadStore): Promise<Finding[]> {
  const broken = await listBrokenModules(store, commandClock.now())
  return broken.map(({ pids, ...module }) =>
    fail('module', describeBroken(module), { fix: `The log of process ${pids.join(', ')} has the whole fault.` }),
  )
}

/** Not a fault: a service sends types that nobody follows. No finding where there are none. */
async function checkUnmatched(store: ReadStore): Promise<Finding[]> {
  const unmatched = await listUnmatched(store)
  if (unmatched.length === 0) return []
  return [ok('unmatched', describeUnmatched(unmatched))]
}

/** Types that are told. */
const MAX_SILENT = 5

/** Not a fault, unless the type is misspelled. */
async function checkSilent(store: ReadStore): Promise<Finding[]> {
  const silent = (await listSilent(store)).map(({ eventType, workflow }) => `${eventType} (${workflow})`)
  if (silent.length === 0) return []
  const more = silent.length > MAX_SILENT ? [`and ${silent.length - MAX_SILENT} others`] : []
  return [ok('no events', `no event came yet of the type ${[...silent.slice(0, MAX_SILENT), ...more].join(', ')}`)]
}

function checkDoors(project: Project, config: Config, { receiver }: RunningApp): Promise<Finding[]> {
  return project.withStore((store) =>
    checkEndpoints(store, { receiver, probeKey: probeKeyOf(config), now: commandClock.now() }),
  )
}

function agree(repairs: readonly Repair[], out: Output): Promise<boolean> {
  const count = repairs.length === 1 ? 'one problem' : `${repairs.length} problems`
  return confirm(out, { will: `repair ${count}`, things: repairs.map(({ will }) => will) })
}

const MARKS = { ok: ['✓', 'green'], warn: ['!', 'yellow'], fail: ['✗', 'red'] } as const

function report(out: Output, { findings, mended }: { findings: readonly Finding[]; mended: readonly string[] }): void {
  const shown = findings.map(({ repair: _, ...finding }) => finding)
  const isHealthy = findings.every(({ level }) => level !== 'fail')
  out.result({ isHealthy, findings: shown, ...(mended.length > 0 && { mended }) }, () => [
    ...mended.map((will) => `Done: ${will}.`),
    ...findings.flatMap(({ check, level, found, fix }) => {
      const [mark, style] = MARKS[level]
      const line = `${out.paint(style, mark)} ${check.padEnd(16)} ${found}`
      return fix === null ? [line] : [line, out.paint('dim', `  ${' '.repeat(16)} ${fix}`)]
    }),
  ])
  const isRepairable = mended.length === 0 && findings.some(({ repair }) => repair !== undefined)
  if (isRepairable) out.note('Some of these can be repaired: upshot doctor --fix')
  if (!isHealthy) out.leaveWith('difference')
}
