import { readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { acceptedFile, readAccepted } from '../../../../app/backtest/accepted-keys.ts'
import type { OtherCode } from '../../../../app/backtest/check-out.ts'
import type { IsolatedProcess } from '../../../../app/preview/isolated-process.ts'
import { refuse, UpshotError } from '../../../../core/errors.ts'
import { isPlainObject, type JsonValue } from '../../../../core/json.ts'
import type { Group } from '../../../../core/safety/differences.ts'
import type { Config } from '../../../../project/config/load-config.ts'
import { findShadow, nameShadow } from '../../../../project/workflows/find-shadow.ts'
import type { Cli } from '../../../command.ts'
import { onInterrupt } from '../../../terminal/on-interrupt.ts'
import { showProgress } from '../../../terminal/progress.ts'
import { openCodeOf, openLiveReads, requireLoaded } from '../open-code.ts'
import type { BacktestOptions } from './backtest-options.ts'
import { formatBacktest } from './backtest-view.ts'
import { reportDifferences } from './report-differences.ts'
import { type Runs, withRuns } from './with-runs.ts'

/** Previews recorded runs, or those of a file, and reports what the code would do otherwise. */
export function replayRuns({ out, project }: Cli, named: string | undefined, options: BacktestOptions): Promise<void> {
  // Before anything is loaded: a person sees at once that it has begun.
  out.note(`Replaying ${options.from === undefined ? `recorded runs of ${named}` : `the runs of ${options.from}`} …`)
  return withRuns(project, named, options, async ({ workflow, store, config, pages, ...runs }) => {
    const { outputs = false, reads, fixtures, rerun = [], workflows, against, failOn, require, from } = options
    const fixed = fixtures === undefined ? {} : readFixtures(fixtures)
    const rules = { readsLive: reads === 'live', rerun, fixtures: fixed }
    // A working tree of git is left behind by a process that just ends.
    const signal = onInterrupt()
    const { backtest } = await import('../../../../app/backtest/backtest.ts')
    await using live = rules.readsLive ? await openLiveReads(config) : null
    const code = { store, config, trustReads: options.trustReads, readFiles: live?.readFiles }
    const shadow = options.shadow ? requireShadow(config, workflow, runs.file) : null
    const module = shadow ?? options.code
    await using candidate = await openCandidate(out, workflow, { ...code, workflows, code: module, against })
    const { isolated, dir, hash } = candidate
    await using other = against === undefined ? null : await openOther(against, dir)
    await using base = other && (await openCodeOf(out, workflow, { ...code, workflows: other.workflowsDir }))
    using progress = showProgress(out, { title: 'Runs previewed', total: null, unit: 'count' })
    const found = await backtest(pages, {
      ...{ workflow, isolated, against: base, rules, withOutputs: outputs || base !== null },
      findStarts: (known) => findStarts(runs, { workflow, isolated, base, known }),
      signal,
      onPreviewed: (count) => progress.set(count),
    })
    progress.end()
    const file = acceptedFile(dir, workflow, from)
    const accepted = readAccepted(file)
    const about = { workflow, candidate: hash, against: against ?? 'recorded', accepted }
    // Those of a corpus are in its file alone.
    const hasRuns = found.runs > 0 || from !== undefined || (await store.listRuns({ workflow, limit: 1 })).length > 0
    const data = {
      ...{ workflow, candidate: hash, against: about.against, ...found, isNew: !hasRuns },
      accepted: [...accepted],
    }
    out.result(data, () => formatBacktest(found, about, out))
    const isThrottled = live?.isThrottled() ?? false
    const rule = { failOn, required: require, isThrottled, unknown: hasRuns ? null : workflow }
    reportDifferences(out, found, { about, file, asked: options, rule })
    if (shadow === null || found.runs === 0) return
    out.note(`To replace the present module with it: mv ${shadow} ${join(dir, runs.file ?? '')}`)
  })
}

/** The differences in what starts runs, from the other code or from what production has now. */
async function findStarts(
  { starts, compareStarts }: Pick<Runs, 'starts' | 'compareStarts'>,
  {
    workflow,
    isolated,
    base,
    known,
  }: { workflow: string; isolated: IsolatedProcess; base: IsolatedProcess | null; known: readonly Group[] },
): Promise<Group[]> {
  const was = base === null ? starts : requireLoaded(base, workflow).starts
  return was === null ? [] : compareStarts({ was, is: requireLoaded(isolated, workflow).starts, known })
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

async function openOther(against: string, workflowsDir: string): Promise<OtherCode> {
  const { checkOut } = await import('../../../../app/backtest/check-out.ts')
  return checkOut(against, workflowsDir)
}

function readFixtures(file: string): Record<string, JsonValue> {
  try {
    const found: unknown = JSON.parse(readFileSync(file, 'utf8'))
    if (isPlainObject(found)) return found as Record<string, JsonValue>
    throw new Error('it is no object')
  } catch (error) {
    const why = (error as Error).message
    throw new UpshotError('invalid_request', `${file} cannot be read as results of steps: ${why}.`, {
      fix: 'Write a JSON object: { "name of the step": its result }.',
    })
  }
}

/** The code that a backtest tries. */
interface Candidate extends AsyncDisposable {
  isolated: IsolatedProcess
  /** The folder that its module lies in, or that of the project's modules. */
  dir: string
  module: string
  hash: string | null
}

interface Wanted extends Omit<Parameters<typeof openCodeOf>[2], 'module'> {
  /** One module of any name, in place of a folder. */
  code: string | undefined
  against: string | undefined
}

/** Opens an isolated process with the code of a folder, or of one module. */
async function openCandidate(
  out: Cli['out'],
  workflow: string,
  { code, against, ...wanted }: Wanted,
): Promise<Candidate> {
  if (code === undefined) {
    const isolated = await openCodeOf(out, workflow, wanted)
    const { workflowsDir } = isolated.settings
    const { file, codeHash } = requireLoaded(isolated, workflow)
    const close = () => isolated[Symbol.asyncDispose]()
    return {
      isolated,
      dir: workflowsDir,
      module: join(workflowsDir, file),
      hash: codeHash,
      [Symbol.asyncDispose]: close,
    }
  }
  checkModule(code, { workflows: wanted.workflows, against })
  const module = resolve(code)
  const { wrapModule } = await import('../../../../app/backtest/check-out.ts')
  const { hashModule } = await import('../../../../project/workflows/hash-module.ts')
  await using stack = new AsyncDisposableStack()
  const { workflowsDir } = stack.use(wrapModule(module))
  const isolated = stack.use(await openCodeOf(out, workflow, { ...wanted, workflows: workflowsDir, module: code }))
  const hash = await hashModule(module)
  const held = stack.move()
  return { isolated, dir: dirname(module), module, hash, [Symbol.asyncDispose]: () => held.disposeAsync() }
}

function checkModule(code: string, { workflows, against }: Pick<Wanted, 'workflows' | 'against'>): void {
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
