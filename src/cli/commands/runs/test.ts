import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { type Command, Option } from '@commander-js/extra-typings'
import { requireRun } from '../../../admin/queries/require-row.ts'
import { type IsolatedProcess, isolatedEnvironment } from '../../../app/preview/isolated-process.ts'
import type { previewTested, recordRun } from '../../../app/preview/record-run.ts'
import { refuse, UpshotError } from '../../../core/errors.ts'
import type { Recording } from '../../../core/runs/claim.ts'
import { isFinished } from '../../../core/runs/step.ts'
import { isoTime } from '../../../core/time.ts'
import type { Config } from '../../../project/config/load-config.ts'
import type { Cli } from '../../command.ts'
import { gather } from '../../input/parse-option.ts'
import type { PersonStore } from '../../open/operations.ts'
import { formatText } from '../../terminal/format-value.ts'

type Recorded = Awaited<ReturnType<typeof recordRun>>
type Previewed = Awaited<ReturnType<typeof previewTested>>

/** Lines of a failing test that a person is shown. */
const MAX_LINES = 30

export function define(command: Command, cli: Cli): void {
  command
    .argument('<id>', 'id of the run, run_…, or its beginning')
    .addOption(
      new Option(
        '--framework <name>',
        'the test framework (default: vitest where the project has it, else node)',
      ).choices(['vitest', 'node'] as const),
    )
    .option('-o, --output <file>', 'write the test to this file, which ends in .test.ts (default: beside the workflow)')
    .option('--redact', 'replace the words of its event and results, which your code does not name')
    .option('--keep <words>', 'with --redact: words that are no secret and stay; may be repeated', gather)
    .option('--no-run', 'write the test, and do not run it')
    .action((named, options) =>
      cli.project.withStore((store, config) => makeTest(cli, { store, config }, named, options)),
    )
}

interface TestOptions {
  framework?: 'vitest' | 'node' | undefined
  output?: string | undefined
  redact?: true | undefined
  keep?: string[] | undefined
  run: boolean
}

async function makeTest(
  { out, project }: Cli,
  { store, config }: { store: PersonStore; config: Config },
  named: string,
  options: TestOptions,
): Promise<void> {
  const { openIsolated } = await import('../../../app/preview/isolated-process.ts')
  const { openPortable, previewTested, recordRun } = await import('../../../app/preview/record-run.ts')
  const {
    framework = detectFramework(project.root),
    output,
    redact: isRedacted = false,
    keep: kept = [],
    run: runs,
  } = options
  const run = await requireRun(store, named)
  const [recording] = await store.readRecordings([run.id])
  if (!recording) throw new UpshotError('not_found', `There is no run ${run.id}.`)
  await using isolated = await openIsolated(store, config, { onPrint: (text) => out.detail(text.trimEnd()) })
  const portable = openPortable(project.root)
  const own = await recordRun(store, recording, {
    spellings: isolated.settings.spellings[run.account] ?? {},
    portable,
  })
  requireBodies(own)
  const found = await previewTested(isolated, own)
  requireEnd(found, recording)
  const { previewed, ...recorded } = isRedacted
    ? await redact(isolated, { own, found, kept })
    : { ...own, previewed: found }
  const module = isolated.code.workflows.find(({ id }) => id === run.workflow)
  const name = `${basename(module?.file ?? '').replace(/\.workflow\.[jt]s$/, '')}.${run.id}`
  const file = output === undefined ? join(config.workflowsDir, `${name}.test.ts`) : readOutput(output)
  const answers = file.replace(/\.test\.\w+$/, '.json')
  const hashes = { made: recorded.codeHash, previewed: module?.codeHash ?? '' }
  const code = writeTest(framework, {
    run: run.id,
    workflow: run.workflow,
    hashes,
    module: pathFrom(file, join(config.workflowsDir, module?.file ?? '')),
    answers: basename(answers),
  })
  const about = { run: run.id, codeHash: recorded.codeHash, file, answers, createdAt: isoTime(run.createdAt) }
  if (out.given.dryRun) return out.result({ ...about, dryRun: true }, () => code.split('\n'))
  for (const path of [file, answers]) refuseExisting(path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(answers, `${JSON.stringify({ ...recorded, did: portable.side(previewed) }, null, 2)}\n`)
  writeFileSync(file, code)
  const end = runs ? await runTest({ ...config, root: project.root }, file, framework) : null
  const passed = end === null || end.kind === 'skipped' ? null : end.kind === 'passed'
  out.result({ ...about, dryRun: false, passed }, () => [file, answers].map(fromHere))
  if (end !== null) printEnd(out, end)
  if (hashes.made !== null && hashes.made !== hashes.previewed) {
    out.note(`The code has changed since this run. The test holds it to what it does now; to compare with what
the run did: upshot backtest ${run.workflow}`)
  }
  out.note('Secrets are redacted where their names tell: "token", "password". Read the rest before you commit it.')
}

function printEnd(out: Cli['out'], end: Awaited<ReturnType<typeof runTest>>): void {
  if (end.kind === 'passed') out.note('The test passes.')
  if (end.kind === 'skipped') out.note('Vitest is not installed here, so the test was not run.')
  if (end.kind === 'failed') {
    out.note(`The test fails. It stays, for you to look at:\n${formatLines(end.output)}`)
    out.note('A time or a random value that is another one each time: take it from `now()` or `random()` of the run.')
  }
  if (end.kind !== 'passed') out.leaveWith(end.kind === 'failed' ? 'failed' : 'unknown')
}

/** A path as a person types it in this folder. */
function fromHere(path: string): string {
  const near = relative('.', path)
  return near.startsWith('..') ? path : near
}

/** Lines of another program, without control characters. */
function formatLines(text: string): string {
  return text
    .split('\n')
    .slice(0, MAX_LINES)
    .map((line) => `  ${formatText(line, 200)}`)
    .join('\n')
}

/** Throws where retention has taken what the run was given; a batch has several events. */
function requireBodies({ claim: { cause, lease }, given: { events } }: Recorded): void {
  const all = cause.kind === 'event' ? [cause.event, ...events] : events
  const pruned = all.find(({ body }) => body === '')
  if (pruned === undefined) return
  throw new UpshotError('conflict', `The body of ${pruned.id}, on which ${lease.runId} ran, is pruned.`, {
    fix: 'Choose a newer run, or keep bodies for longer with `retention.payloads`.',
  })
}

/** The run with other words. Throws where the code takes them otherwise. */
async function redact(
  isolated: IsolatedProcess,
  { own, found, kept }: { own: Recorded; found: Previewed; kept: readonly string[] },
): Promise<Recorded & { previewed: Previewed }> {
  const { previewTested } = await import('../../../app/preview/record-run.ts')
  const { findOtherPath, redactWords } = await import('../../../app/backtest/corpus/redact-words.ts')
  const { rewriteRun } = await import('../../../app/preview/rewrite-run.ts')
  const rewriting = redactWords(isolated.settings, kept, randomBytes(32))
  const recorded = rewriteRun(rewriting, own)
  const previewed = await previewTested(isolated, recorded)
  const other = findOtherPath(rewriting, found, previewed)
  if (other === null) return { ...recorded, previewed }
  throw new UpshotError('conflict', `With replaced words the run takes another path: ${formatText(other, 200)}.`, {
    fix: 'Keep the words that its code decides by, with --keep, or leave out --redact and edit the answers by hand.',
  })
}

/** Throws where changed code asks for something that the run never got. A run may be held there. */
function requireEnd({ end, unstarted }: Previewed, { steps }: Recording): void {
  if (unstarted != null) {
    throw new UpshotError('conflict', `The code runs on ${unstarted.on}, and the run was started by ${unstarted.by}.`, {
      fix: 'Choose a run that this code would have started.',
    })
  }
  if (end.kind !== 'open') return
  if (steps.some((step) => end.text.startsWith(`step "${step.key}": `) && !isFinished(step))) return
  throw new UpshotError('conflict', `The run has no answer to ${formatText(end.text, 200)}.`, {
    fix: 'Its code has changed, or the run is not finished. Choose a newer, completed run.',
  })
}

function readOutput(output: string): string {
  if (/\.test\.[cm]?[jt]s$/.test(output)) return resolve(output)
  throw refuse(`${output} is not the name of a test file.`, 'Name a file that ends in .test.ts.')
}

/** The path of a module as a file in another folder imports it. */
function pathFrom(file: string, module: string): string {
  const path = relative(dirname(file), module).replaceAll('\\', '/')
  return path.startsWith('.') ? path : `./${path}`
}

function refuseExisting(path: string): void {
  if (!existsSync(path)) return
  throw new UpshotError('conflict', `${path} is there already.`, { fix: 'Remove or rename it.' })
}

function detectFramework(root: string): Framework {
  try {
    const { dependencies = {}, devDependencies = {} } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    return 'vitest' in { ...dependencies, ...devDependencies } ? 'vitest' : 'node'
  } catch {
    return 'node'
  }
}

/** The end of a run of the test; `skipped`: its framework is not installed here. */
type TestEnd = { kind: 'passed' | 'skipped' } | { kind: 'failed'; output: string }

const WITHIN_MS = 120_000

/** Runs a test in a process of its own, without secrets of the project, as `npm test` would. */
export function runTest(
  { root, secretVariables }: Pick<Config, 'secretVariables'> & { root: string },
  file: string,
  framework: Framework,
): Promise<TestEnd> {
  const args = framework === 'node' ? ['--test', '--test-reporter=dot', file] : vitestArgs(root, file)
  if (args === null) return Promise.resolve({ kind: 'skipped' })
  const { promise, resolve } = Promise.withResolvers<TestEnd>()
  const options = { cwd: root, env: { ...isolatedEnvironment(secretVariables), NO_COLOR: '1' }, timeout: WITHIN_MS }
  execFile(process.execPath, args, options, (error, output, errors) => {
    resolve(error === null ? { kind: 'passed' } : { kind: 'failed', output: `${output}${errors}`.trim() })
  })
  return promise
}

function vitestArgs(root: string, file: string): string[] | null {
  try {
    const found = createRequire(join(root, 'package.json')).resolve('vitest/package.json')
    return [join(dirname(found), 'vitest.mjs'), 'run', file]
  } catch {
    return null
  }
}

type Framework = 'vitest' | 'node'

interface Written {
  run: string
  /** Hash of the code that made the run, and of the code that was previewed. */
  hashes: { made: string | null; previewed: string }
  workflow: string
  /** Path of the workflow's module, from the test. */
  module: string
  /** File name of the answers. */
  answers: string
}

function writeTest(framework: Framework, { run, workflow, hashes, ...more }: Written): string {
  const { module, answers } = more
  const isVitest = framework === 'vitest'
  return [
    ...(isVitest
      ? [`import { replayRecorded } from 'upshot/testing'`, `import { expect, test } from 'vitest'`]
      : [
          `import assert from 'node:assert/strict'`,
          `import { test } from 'node:test'`,
          `import { replayRecorded } from 'upshot/testing'`,
        ]),
    `import workflow from '${module}'`,
    '',
    `// Written by "upshot runs test ${run}"${describeCode(hashes)}.`,
    `test('${workflow} does what ${run} did', async () => {`,
    `  const { did, does } = await replayRecorded(workflow, new URL('./${answers}', import.meta.url))`,
    isVitest ? '  expect(does).toEqual(did)' : '  assert.deepEqual(does, did)',
    '})',
    '',
  ].join('\n')
}

function describeCode({ made, previewed }: Written['hashes']): string {
  if (made === null || made === previewed) return `, with code ${previewed}`
  return `, with code ${previewed}; the run was made by code ${made}`
}
