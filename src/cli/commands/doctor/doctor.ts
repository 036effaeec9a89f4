import type { Command } from '@commander-js/extra-typings'
import { listUnmatched } from '../../../admin/queries/list-unmatched.ts'
import { UpshotError } from '../../../core/errors.ts'
import { describeBroken } from '../../../core/runs/workflow-record.ts'
import { listBrokenModules } from '../../../core/store/health/list-broken-modules.ts'
import type { Config } from '../../../project/config/load-config.ts'
import { hasDatabase } from '../../../project/data-dir/data-files.ts'
import { removeRuntimeFile } from '../../../project/data-dir/runtime-file.ts'
import type { Cli } from '../../command.ts'
import { commandClock } from '../../open/command-clock.ts'
import type { Project } from '../../open/open-project.ts'
import { call, type Operations } from '../../open/operations.ts'
import { probeKeyOf } from '../../open/probe-key.ts'
import { findRunningApp, hasRuntimeFile, type RunningApp } from '../../open/running-app.ts'
import { confirm } from '../../terminal/confirm.ts'
import type { Output } from '../../terminal/output.ts'
import { describeProblem } from '../../terminal/problem.ts'
import { describeUnmatched } from '../workflows/workflow-view.ts'
import { checkDatabase } from './check-database.ts'
import { checkEndpoints } from './check-endpoints.ts'
import { checkLedger } from './check-ledger.ts'
import { checkDisk, checkNode, checkPorts, checkRights, checkWorkflows } from './check-machine.ts'
import { checkSafety } from './check-safety.ts'
import { checkService } from './check-service.ts'
import { checkSweeps } from './check-sweeps.ts'
import { checkWeeks } from './check-weeks.ts'
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
        if (fix || tryDelete) throw describeFar()
        report(out, { findings: await project.withOperations(examineFar), repairs: [], isRepairing: false })
        return
      }
      const findings = await examine(project, options)
      const repairs = fix ? findings.flatMap(({ repair }) => repair ?? []) : []
      const isRepairing = repairs.length > 0 && (await agree(repairs, out))
      if (isRepairing) for (const repair of repairs) repair.perform()
      report(out, { findings: isRepairing ? await examine(project, options) : findings, repairs, isRepairing })
    })
}

function describeFar(): UpshotError {
  return new UpshotError('invalid_request', 'At a server, the doctor examines and does nothing else.', {
    details: { fix: 'Leave out --fix and --try-delete, or run it on the machine of the app.' },
  })
}

/** The checks of the machine of the server. */
async function examineFar(operations: Operations): Promise<Finding[]> {
  const { findings } = await call(operations, 'POST /doctor', { body: {} })
  return findings.map(({ fix, ...finding }) => (fix === null ? finding : { ...finding, fix }))
}

/** Runs all checks in order. Without a valid configuration most are left out. */
async function examine(project: Project, { isTryingDelete }: DoctorOptions): Promise<Finding[]> {
  const config = await readConfig(project)
  if ('level' in config) return [checkNode(), config]
  const { root } = project
  const app = await findRunningApp(config)
  return [
    checkNode(),
    ok('config', `valid, with ${config.service.kind === 'real' ? 'the real service' : 'the sandbox'}`),
    ...checkRights(config, root),
    checkDisk(config, root),
    checkWorkflows(config),
    ...(await checkModules(project, config)),
    ...(await checkDatabase(project, config)),
    ...(await checkWeeks(project, config)),
    ...(await checkLedger(project, config)),
    ...(await checkSafety(project, config)),
    ...(await checkSweeps(project, config)),
    ...(await checkUnmatched(project, config)),
    checkApp(config, app),
    ...(app === null ? await checkPorts(config) : []),
    ...(app === null ? [] : await checkDoors(project, config, app)),
    ...(await checkService(config, { app, isTryingDelete })),
  ]
}

async function readConfig(project: Project): Promise<Config | Finding> {
  try {
    return await project.load()
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

/** One finding for each module that a process at work could not load. */
async function checkModules(project: Project, config: Config): Promise<Finding[]> {
  if (!hasDatabase(config)) return []
  const broken = await project.withStore((store) => listBrokenModules(store, commandClock.now())).catch(() => [])
  return broken.map(({ pids, ...module }) =>
    fail('module', describeBroken(module), { fix: `The log of process ${pids.join(', ')} has the whole fault.` }),
  )
}

/** Not a fault: a service sends types that nobody follows. No finding where there are none. */
async function checkUnmatched(project: Project, config: Config): Promise<Finding[]> {
  if (!hasDatabase(config)) return []
  const unmatched = await project.withStore(listUnmatched).catch(() => [])
  if (unmatched.length === 0) return []
  return [ok('unmatched', describeUnmatched(unmatched))]
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

function report(
  out: Output,
  { findings, repairs, isRepairing }: { findings: Finding[]; repairs: Repair[]; isRepairing: boolean },
): void {
  const shown = findings.map(({ repair, ...finding }) => ({ ...finding, canMend: repair !== undefined }))
  const mended = isRepairing ? repairs.map(({ will }) => will) : []
  const failed = findings.filter(({ level }) => level === 'fail').length
  out.result({ healthy: failed === 0, findings: shown, mended }, () => [
    ...mended.map((will) => `Done: ${will}.`),
    ...findings.flatMap(({ check, level, found, fix }) => {
      const [mark, style] = MARKS[level]
      const line = `${out.paint(style, mark)} ${check.padEnd(16)} ${found}`
      return fix === undefined ? [line] : [line, out.paint('dim', `  ${' '.repeat(16)} ${fix}`)]
    }),
  ])
  const isRepairable = !isRepairing && findings.some(({ repair }) => repair !== undefined)
  if (isRepairable) out.note('Some of these can be repaired: upshot doctor --fix')
  if (failed > 0) out.leaveWith('difference')
}
