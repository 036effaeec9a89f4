import { statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { acceptedFile, readAccepted } from '../../../../app/backtest/accepted-keys.ts'
import { refuse, UpshotError } from '../../../../core/errors.ts'
import { isPlainObject, type JsonValue, parseJson } from '../../../../core/json.ts'
import type { Config } from '../../../../project/config/load-config.ts'
import { findShadow, nameShadow } from '../../../../project/workflows/find-shadow.ts'
import { hashModule } from '../../../../project/workflows/hash-module.ts'
import type { Cli } from '../../../command.ts'
import { readText } from '../../../input/read-source.ts'
import { onInterrupt } from '../../../terminal/on-interrupt.ts'
import { showProgress } from '../../../terminal/progress.ts'
import { openCodeOf, openLiveReads, requireLoaded } from '../open-code.ts'
import type { BacktestOptions } from './backtest-options.ts'
import { formatBacktest } from './backtest-view.ts'
import { reportDifferences, writeReport } from './report-differences.ts'
import { type Runs, withRuns } from './with-runs.ts'

/** Previews recorded runs, or those of a file, and reports what the code would do otherwise. */
export function replayRuns(cli: Cli, named: string | undefined, options: BacktestOptions): Promise<void> {
  // Before anything is loaded: a person sees at once that it has begun.
  cli.out.note(
    `Replaying ${options.from === undefined ? `recorded runs of ${named}` : `the runs of ${options.from}`} …`,
  )
  return withRuns(cli.project, named, options, (runs) => replay(cli, runs, options))
}

async function replay(
  { out }: Cli,
  { workflow, store, config, pages, ...runs }: Runs,
  options: BacktestOptions,
): Promise<void> {
  const { outputs = false, reads, fixtures, rerun = [], workflows, against, failOn, require = 1, from } = options
  const fixed = fixtures === undefined ? {} : readFixtures(fixtures)
  const rules = { readsLive: reads === 'live', rerun, fixtures: fixed }
  // A working tree of git is left behind by a process that just ends.
  const signal = onInterrupt()
  const { backtest } = await import('../../../../app/backtest/backtest.ts')
  const { checkOut } = await import('../../../../app/backtest/check-out.ts')
  const { compareStarts } = await import('../../../../app/backtest/compare-starts.ts')
  await using live = rules.readsLive ? await openLiveReads(config) : null
  const open = (folder: string | undefined, module?: string) =>
    openCodeOf(out, workflow, {
      store,
      config,
      trustReads: options.trustReads,
      readFiles: live?.readFiles,
      workflows: folder,
      ...(module !== undefined && { module }),
    })
  const shadow = options.shadow ? requireShadow(config, workflow, runs.file) : null
  const module = shadow ?? options.code
  if (module !== undefined) checkModule(module, { workflows, against })
  await using alone = module === undefined ? null : await checkOut(module, config.workflowsDir)
  await using isolated = await open(alone?.workflowsDir ?? workflows, module)
  const dir = module === undefined ? isolated.settings.workflowsDir : dirname(resolve(module))
  const { codeHash, starts } = requireLoaded(isolated, workflow)
  const candidate = module === undefined ? codeHash : await hashModule(resolve(module))
  await using other = against === undefined ? null : await checkOut(against, dir)
  await using base = other && (await open(other.workflowsDir))
  const was = base === null ? runs.starts : requireLoaded(base, workflow).starts
  using progress = showProgress(out, { title: 'Runs previewed', total: null, unit: 'count' })
  const found = await backtest(pages, {
    workflow,
    isolated,
    against: base,
    rules,
    withOutputs: outputs || base !== null,
    findStarts: async (known) =>
      was === null ? [] : compareStarts(runs.events, { was, is: starts, known }, runs.stretch),
    signal,
    onPreviewed: (count) => progress.set(count),
  })
  progress.end()
  const file = acceptedFile(dir, workflow, from)
  const accepted = readAccepted(file)
  const about = { workflow, candidate, against: against ?? 'recorded', accepted }
  // Those of a corpus are in its file alone.
  const hasRuns = found.runs > 0 || from !== undefined || (await store.listRuns({ workflow, limit: 1 })).length > 0
  const data = { workflow, candidate, against: about.against, ...found, isNew: !hasRuns, accepted: [...accepted] }
  writeReport(found, about, options.markdown)
  out.result(data, () => formatBacktest(found, about, out))
  const isThrottled = live?.isThrottled() ?? false
  const rule = { failOn, required: require, isThrottled, unknown: hasRuns ? null : workflow }
  reportDifferences(out, found, { about, file, accept: options.accept ?? false, rule })
  if (shadow === null || found.runs === 0) return
  out.note(`To replace the present module with it: mv ${shadow} ${join(dir, runs.file ?? '')}`)
}

/** The module of the shadow of a workflow. Throws `not_found` without one. */
function requireShadow({ workflowsDir }: Config, workflow: string, file: string | null): string {
  const shadow = file === null ? null : findShadow(workflowsDir, file)
  if (shadow !== null) return shadow
  const module = file ?? `${workflow}.workflow.ts`
  throw new UpshotError('not_found', `The workflow "${workflow}" has no shadow.`, {
    fix: `Write its new version beside ${module}, as ${nameShadow(module)}, with the same id.`,
  })
}

function readFixtures(file: string): Record<string, JsonValue> {
  const found = parseJson(readText(file))
  if (isPlainObject(found)) return found as Record<string, JsonValue>
  throw refuse(`${file} does not hold results of steps.`, 'Write a JSON object: { "name of the step": its result }.')
}

/** Throws where the code of one module is named beside other code. */
function checkModule(
  code: string,
  { workflows, against }: { workflows: string | undefined; against: string | undefined },
): void {
  if (workflows !== undefined) {
    throw refuse('--code and --workflows both name the code that is tried.', 'Leave one of them out.')
  }
  if (!isFile(code)) {
    throw new UpshotError('invalid_request', `${code} cannot be read as a file.`, {
      fix: 'Name a module with --code, or a folder of modules with --workflows.',
    })
  }
  if (against !== undefined && !isFile(against)) {
    throw new UpshotError('invalid_request', 'One module can be compared with one module only.', {
      fix: 'Name a module with --against too, such as "workflows/tidy.workflow.ts".',
    })
  }
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false
}
