import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { NO_DIFFERENCES } from '../../../src/core/safety/difference.ts'
import { beginShadow } from '../../../src/core/safety/shadow-book.ts'
import { openStore } from '../../../src/project/data-dir/open-store.ts'
import { hashModule } from '../../../src/project/workflows/hash-module.ts'
import { NOW } from '../../support/fixtures.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { runHere } from '../support/run-here.ts'

const KEY = '+ delete files.delete storage_a'
const DELETES = {
  ...{ key: KEY, count: 3, bytes: 2_000 },
  changes: [
    {
      ...{ sign: '+' as const, class: 'delete' as const, operation: 'files.delete', target: 'storage_a' },
      ...{ from: null, to: null, text: KEY },
    },
  ],
  samples: [{ run: 'run_1', event: 'evt_1' }],
}

/** A project whose workflow `tidy` has a shadow, and no app that follows its runs. */
async function openProject() {
  const dataDir = tempFolder()
  const workflowsDir = tempFolder()
  const store = await openStore({ dataDir, secretKey: null })
  onTestFinished(() => store.close())
  const file = 'tidy.workflow.ts'
  const workflow = { id: 'tidy', file, eventTypes: ['file.created'], schedule: null }
  await store.saveWorkflows({ workflows: [workflow], broken: [] }, NOW)
  writeFileSync(join(workflowsDir, file), 'old')
  const shadow = join(workflowsDir, 'tidy.shadow.ts')
  const upshot = (...args: string[]) =>
    runHere(dataDir, ['workflows', ...args], { env: { UPSHOT_WORKFLOWS_DIR: workflowsDir } })
  return {
    ...{ store, workflowsDir, shadow, upshot, module: join(workflowsDir, file) },
    /** Writes the shadow's code, and its book after these looks. */
    keep: async (found: object) => {
      writeFileSync(shadow, 'new')
      const book = { ...beginShadow('tidy.shadow.ts', NOW), found: { ...NO_DIFFERENCES, ...found } }
      await store.saveShadow('tidy', { code: await hashModule(shadow), book, version: 0 })
    },
  }
}

test('the differences of a shadow are told as by a backtest, and exit with 7 until they are accepted', async () => {
  const { upshot, keep, workflowsDir } = await openProject()
  await keep({ runs: 10, answered: 10, same: 7, groups: [DELETES] })
  const told = await upshot('shadow', 'tidy')
  expect(told.stdout).toMatch(
    /^tidy: code \w{8} against what 10 runs did\ntidy\.shadow\.ts: runs made since .+, up to .+\.\n/,
  )
  expect(told.stdout).toMatch(
    / +7 {2}same\n +3 {2}\+ delete files\.delete storage_a {2}\(2\.0 kB\)\n +such as run_1 of evt_1\n$/,
  )
  expect(told.stderr).toMatch(/\+ by this code only, - by the run only, .*\n.*: upshot workflows promote tidy\n/)
  expect(told.exit).toBe(7)
  expect((await upshot('show', 'tidy')).stdout).toContain('  shadow    tidy.shadow.ts, the same in 7 of 10 runs\n')
  const { json, exit } = await upshot('shadow', 'tidy', '--accept', '--json')
  expect(json.data).toMatchObject({
    workflow: 'tidy',
    file: 'tidy.shadow.ts',
    runs: 10,
    groups: [{ key: KEY, count: 3 }],
  })
  expect(exit).toBe(0)
  expect(JSON.parse(readFileSync(join(workflowsDir, 'backtest/tidy.json'), 'utf8'))).toEqual({ accepted: [KEY] })
  expect((await upshot('shadow', 'tidy')).exit).toBe(0)
})

test('no run, or no look at this code, is never called the same', async () => {
  const { upshot, keep, shadow } = await openProject()
  await keep({})
  const empty = await upshot('shadow', 'tidy')
  expect(empty.stderr).toContain('0 of 0 runs')
  expect([empty.stdout.includes('same'), empty.exit]).toEqual([false, 5])
  writeFileSync(shadow, 'edited')
  const edited = await upshot('shadow', 'tidy')
  expect(edited.stdout).toBe('tidy.shadow.ts: no process has looked at this code yet.\n')
  expect(edited.exit).toBe(5)
})

test('a workflow without a shadow is told where to write one', async () => {
  const { upshot } = await openProject()
  const { stderr, exit } = await upshot('shadow', 'tidy')
  expect(stderr).toContain('The workflow "tidy" has no shadow.')
  expect(stderr).toContain('Write its new version beside tidy.workflow.ts, as tidy.shadow.ts, with the same id.')
  expect(exit).toBe(5)
})

test('a shadow takes the place of its module after a question that names what would differ', async () => {
  const { upshot, keep, shadow, module } = await openProject()
  await keep({ runs: 1_000, answered: 1_000, same: 997, groups: [DELETES] })
  const asked = await upshot('promote', 'tidy')
  expect(asked.stderr).toContain(
    'put tidy.shadow.ts in the place of tidy.workflow.ts. Of its 1,000 runs, 3 would differ',
  )
  expect(asked.stderr).toContain(`3 runs: ${KEY}`)
  expect(asked.exit).toBe(3)
  expect((await upshot('promote', 'tidy', '--dry-run')).exit).toBe(0)
  expect(readFileSync(module, 'utf8')).toBe('old')
  const { json, exit } = await upshot('promote', 'tidy', '--yes', '--json')
  expect(json.data).toMatchObject({ file: 'tidy.workflow.ts', from: 'tidy.shadow.ts', differences: 1, dryRun: false })
  expect([exit, readFileSync(module, 'utf8'), existsSync(shadow)]).toEqual([0, 'new', false])
})

test('a shadow of which nothing can be said is not said to do the same', async () => {
  const { upshot, keep } = await openProject()
  await keep({ runs: 9, cannotSay: [{ question: 'nothing answers "look"', count: 9, samples: [] }] })
  const { stderr } = await upshot('promote', 'tidy')
  expect(stderr).toContain('Of its 9 runs, none is known to differ; nothing can be said of 9')
})

test('a shadow of another name than its module is not promoted: two modules would define one id', async () => {
  const { upshot, keep, store, workflowsDir, shadow } = await openProject()
  await keep({ runs: 1 })
  const other = join(workflowsDir, 'neat.shadow.ts')
  writeFileSync(other, 'newer')
  const book = beginShadow('neat.shadow.ts', NOW + 1)
  await store.saveShadow('tidy', { code: await hashModule(other), book, version: 0 })
  rmSync(shadow)
  const { stderr, exit } = await upshot('promote', 'tidy', '--yes')
  expect(stderr).toContain('neat.shadow.ts is not named as tidy.workflow.ts is')
  expect(stderr).toContain('Rename it to tidy.shadow.ts')
  expect(exit).toBe(1)
})
