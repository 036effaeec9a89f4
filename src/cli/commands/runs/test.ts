import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { type Command, Option } from '@commander-js/extra-typings'
import type { Room } from '../../../app/play/room.ts'
import { UpshotError } from '../../../core/errors.ts'
import type { Recording } from '../../../core/runs/claim.ts'
import { isFinished } from '../../../core/runs/step.ts'
import { isoTime } from '../../../core/time.ts'
import type { Cli } from '../../command.ts'
import { requireRun } from '../../open/find-run.ts'
import { formatText } from '../../terminal/format-value.ts'

type Framework = 'vitest' | 'node'
type RecordedRun = Parameters<Room['replay']>[0]
type Played = Awaited<ReturnType<Room['replay']>>

/** `upshot runs test <id>`: a test that passes, from what a run was given and did. */
export function define(command: Command, { out, project }: Cli): void {
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
    .action((named, { framework = detectFramework(project.root), output, redact: isRedacted = false }) =>
      project.withStore(async (store, config) => {
        const { openRoom } = await import('../../../app/play/open-room.ts')
        const { recordRun } = await import('../../../app/play/record-run.ts')
        const run = await requireRun(store, named)
        const [recording] = await store.readRecordings([run.id])
        if (!recording) throw new UpshotError('not_found', `There is no run ${run.id}.`)
        await using room = await openRoom(store, config, { onPrint: (text) => out.detail(text.trimEnd()) })
        const own = await recordRun(store, recording, room.settings.spellings[run.account] ?? {})
        const found = await room.replay(own)
        requireEnd(found, recording)
        const { recorded, played } = isRedacted ? await redact(room, own, found) : { recorded: own, played: found }
        const module = room.code.workflows.find(({ id }) => id === run.workflow)?.file ?? ''
        const name = `${basename(module).replace(/\.workflow\.[jt]s$/, '')}.${run.id}`
        const file = output === undefined ? join(config.workflowsDir, `${name}.test.ts`) : readOutput(output)
        const answers = file.replace(/\.test\.\w+$/, '.json')
        const code = writeTest(framework, {
          run: run.id,
          workflow: run.workflow,
          module: pathFrom(file, join(config.workflowsDir, module)),
          answers: basename(answers),
          played,
        })
        const about = { run: run.id, codeHash: recorded.codeHash, file, answers, createdAt: isoTime(run.createdAt) }
        if (out.given.dryRun) return out.result({ ...about, dryRun: true }, () => code.split('\n'))
        for (const path of [file, answers]) refuseExisting(path)
        writeFileSync(answers, `${JSON.stringify(recorded, null, 2)}\n`)
        writeFileSync(file, code)
        out.result({ ...about, dryRun: false }, () => [file, answers])
        out.note('Text of properties such as "token" and "password" is redacted. Read the rest before you commit it.')
      }),
    )
}

/** The run with other words. Throws where the code takes them otherwise. */
async function redact(room: Room, own: RecordedRun, found: Played): Promise<{ recorded: RecordedRun; played: Played }> {
  const { listKept } = await import('../../../app/backtest/corpus/list-kept.ts')
  const { redactRecorded } = await import('../../../app/backtest/corpus/redact-case.ts')
  const { WordRedactor } = await import('../../../app/backtest/corpus/word-redactor.ts')
  const words = new WordRedactor(randomBytes(32), listKept(room.settings.workflowsDir))
  const recorded = redactRecorded(words, own)
  const played = await room.replay(recorded)
  const outline = ({ end, effects }: Played, of = (target: string) => target) => {
    return JSON.stringify([end.kind, effects.map((each) => [each.class, each.target && of(each.target)])])
  }
  if (outline(played) === outline(found, (target) => words.redact(target))) return { recorded, played }
  throw new UpshotError('conflict', 'With other words the run goes another way: its code decides by one of them.', {
    details: { fix: 'Leave out --redact, and edit the answers by hand.' },
  })
}

/** Throws where changed code asks for something that the run never got. A run may be held there. */
function requireEnd({ end }: Played, { steps }: Recording): void {
  if (end.kind !== 'open') return
  if (steps.some((step) => step.key === end.step && !isFinished(step))) return
  throw new UpshotError('conflict', `The run has no answer to step "${end.step}": ${formatText(end.reason, 200)}.`, {
    details: { fix: 'Its code has changed, or the run is not finished. Choose a newer, completed run.' },
  })
}

function readOutput(output: string): string {
  if (/\.test\.[cm]?[jt]s$/.test(output)) return resolve(output)
  throw new UpshotError('invalid_request', `${output} is no name of a test.`, {
    details: { fix: 'Name a file that ends in .test.ts.' },
  })
}

/** The path of a module as a file in another folder imports it. */
function pathFrom(file: string, module: string): string {
  const path = relative(dirname(file), module).replaceAll('\\', '/')
  return path.startsWith('.') ? path : `./${path}`
}

function refuseExisting(path: string): void {
  if (!existsSync(path)) return
  throw new UpshotError('conflict', `${path} is there already.`, { details: { fix: 'Remove or rename it.' } })
}

function detectFramework(root: string): Framework {
  try {
    const { dependencies = {}, devDependencies = {} } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    return 'vitest' in { ...dependencies, ...devDependencies } ? 'vitest' : 'node'
  } catch {
    return 'node'
  }
}

interface Written {
  run: string
  workflow: string
  /** Path of the workflow's module, from the test. */
  module: string
  /** File name of the answers. */
  answers: string
  played: Played
}

function writeTest(framework: Framework, { run, workflow, module, answers, played }: Written): string {
  const isVitest = framework === 'vitest'
  const compare = (what: string, value: unknown) => {
    const text = JSON.stringify(value, null, 2).replaceAll('\n', '\n  ')
    return isVitest ? `  expect(${what}).toEqual(${text})` : `  assert.deepEqual(${what}, ${text})`
  }
  return [
    ...(isVitest
      ? [`import { playRecorded } from 'upshot/testing'`, `import { expect, test } from 'vitest'`]
      : [
          `import assert from 'node:assert/strict'`,
          `import { test } from 'node:test'`,
          `import { playRecorded } from 'upshot/testing'`,
        ]),
    `import workflow from '${module}'`,
    '',
    `// Written by "upshot runs test ${run}".`,
    `test('${workflow} does what ${run} did', async () => {`,
    `  const played = await playRecorded(workflow, new URL('./${answers}', import.meta.url))`,
    compare('played.end', played.end),
    compare('played.effects', played.effects),
    '})',
    '',
  ].join('\n')
}
