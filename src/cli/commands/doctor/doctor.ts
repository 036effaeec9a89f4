import type { Command } from '@commander-js/extra-typings'
import { systemClock } from '../../../core/time.ts'
import type { Config } from '../../../project/config/load-config.ts'
import { removeRuntimeFile } from '../../../project/data-dir/runtime-file.ts'
import { loadProject, withStore } from '../../open/open-project.ts'
import { findRunningApp, hasRuntimeFile, type RunningApp } from '../../open/running-app.ts'
import { confirm } from '../../terminal/confirm.ts'
import type { Output } from '../../terminal/output.ts'
import { describeProblem } from '../../terminal/problem.ts'
import { checkDatabase } from './check-database.ts'
import { checkEndpoints } from './check-endpoints.ts'
import { checkDisk, checkNode, checkPorts, checkRights, checkWorkflows } from './check-machine.ts'
import { checkService } from './check-service.ts'
import { type Finding, fail, ok, type Repair, warn } from './finding.ts'

interface DoctorOptions {
  isTryingDelete: boolean
}

/**
 * `upshot doctor`: looks at all that must be right, changes nothing without `--fix`, and leaves
 * with 7 where something is wrong.
 */
export function define(command: Command, out: Output): void {
  command
    .option('--fix', 'mend what can be mended, after saying what')
    .option(
      '--try-delete',
      'also ask the service to delete a file that does not exist, to see whether the key may delete',
    )
    .action(async ({ fix = false, tryDelete = false }) => {
      const options = { isTryingDelete: tryDelete }
      const findings = await examine(options)
      const repairs = fix ? findings.flatMap(({ repair }) => repair ?? []) : []
      const isMending = repairs.length > 0 && (await agree(repairs, out))
      if (isMending) for (const repair of repairs) repair.perform()
      report(out, { findings: isMending ? await examine(options) : findings, repairs, isMending })
    })
}

/** Every check in order. One that cannot be made without another is left out with it. */
async function examine({ isTryingDelete }: DoctorOptions): Promise<Finding[]> {
  const config = await readConfig()
  if ('level' in config) return [checkNode(), config]
  const root = process.cwd()
  const app = await findRunningApp(config)
  return [
    checkNode(),
    ok('config', `valid, with ${config.service.kind === 'real' ? 'the real service' : 'the sandbox'}`),
    ...checkRights(config, root),
    checkDisk(config, root),
    checkWorkflows(config),
    ...checkDatabase(config),
    checkApp(config, app),
    ...(app === null ? await checkPorts(config) : []),
    ...(app === null ? [] : await checkDoors(app)),
    ...(await checkService(config, { app, isTryingDelete })),
  ]
}

async function readConfig(): Promise<Config | Finding> {
  try {
    return await loadProject()
  } catch (error) {
    const problem = describeProblem(error)
    return fail('config', problem?.message ?? 'unknown fault', { fix: problem?.fix ?? '' })
  }
}

function checkApp({ dataDir }: Config, app: RunningApp | null): Finding {
  if (app !== null) {
    const faults = Object.entries(app.checks).flatMap(([name, result]) => (result === 'ok' ? [] : `${name}: ${result}`))
    if (app.isReady) return ok('app', `ready: process ${app.pid}`)
    return fail('app', `process ${app.pid} is not ready (${faults.join(', ')})`, { fix: 'Read its log.' })
  }
  if (!hasRuntimeFile(dataDir)) return ok('app', 'none runs here')
  return warn('app', 'none runs here, and the last one did not end in order', {
    fix: 'Start it: it goes on where it was. Its log says why it ended.',
    repair: { will: 'forget the addresses of the app that is gone', perform: () => removeRuntimeFile(dataDir) },
  })
}

function checkDoors({ receiver }: RunningApp): Promise<Finding[]> {
  return withStore((store) => checkEndpoints(store, receiver, systemClock.now()))
}

function agree(repairs: readonly Repair[], out: Output): Promise<boolean> {
  const count = repairs.length === 1 ? 'one thing' : `${repairs.length} things`
  return confirm(out, { will: `mend ${count}`, things: repairs.map(({ will }) => will) })
}

const MARKS = { ok: ['✓', 'green'], warn: ['!', 'yellow'], fail: ['✗', 'red'] } as const

function report(
  out: Output,
  { findings, repairs, isMending }: { findings: Finding[]; repairs: Repair[]; isMending: boolean },
): void {
  const shown = findings.map(({ repair, ...finding }) => ({ ...finding, canMend: repair !== undefined }))
  const mended = isMending ? repairs.map(({ will }) => will) : []
  const failed = findings.filter(({ level }) => level === 'fail').length
  out.result({ healthy: failed === 0, findings: shown, mended }, () => [
    ...mended.map((will) => `Done: ${will}.`),
    ...findings.flatMap(({ check, level, found, fix }) => {
      const [mark, style] = MARKS[level]
      const line = `${out.paint(style, mark)} ${check.padEnd(16)} ${found}`
      return fix === undefined ? [line] : [line, out.paint('dim', `  ${' '.repeat(16)} ${fix}`)]
    }),
  ])
  const isMendable = !isMending && findings.some(({ repair }) => repair !== undefined)
  if (isMendable) out.note('Some of this can be mended: upshot doctor --fix')
  if (failed > 0) out.leaveWith('difference')
}
