import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { NO_DIFFERENCES } from '../../../../../src/core/safety/differences/difference.ts'
import { beginShadow } from '../../../../../src/core/safety/differences/shadow-book.ts'
import { openStore } from '../../../../../src/project/data-dir/open-store.ts'
import { hashModule } from '../../../../../src/project/workflows/hash-module.ts'
import { NOW } from '../../../../support/fixtures.ts'
import { tempFolder } from '../../../../support/temp-folder.ts'
import { runHere } from '../../../support/run-here.ts'

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
  const upshot = (...args: string[]) => runHere(dataDir, args, { env: { UPSHOT_WORKFLOWS_DIR: workflowsDir } })
  return {
    ...{ store, workflowsDir, shadow, upshot },
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
  const told = await upshot('backtest', 'tidy', '--shadow')
  expect(told.stdout).toMatch(
    /^tidy: code \w{8} against what 10 runs did\ntidy\.shadow\.ts: runs made since .+, up to .+\.\n/,
  )
  expect(told.stdout).toMatch(
    / +7 {2}same\n +3 {2}\+ delete files\.delete storage_a {2}\(2\.0 kB\)\n +such as run_1 of evt_1\n$/,
  )
  expect(told.stderr).toMatch(
    /\+ by this code only, - by the run only, .*\n.*: mv \S+tidy\.shadow\.ts \S+tidy\.workflow\.ts\n/,
  )
  expect(told.exit).toBe(7)
  expect((await upshot('workflows', 'show', 'tidy')).stdout).toContain(
    '  shadow    tidy.shadow.ts, the same in 7 of 10 runs\n',
  )
  const { json, exit } = await upshot('backtest', 'tidy', '--shadow', '--accept', '--json')
  expect(json.data).toMatchObject({
    workflow: 'tidy',
    file: 'tidy.shadow.ts',
    runs: 10,
    groups: [{ key: KEY, count: 3 }],
  })
  expect(exit).toBe(0)
  expect(JSON.parse(readFileSync(join(workflowsDir, 'backtest/tidy.json'), 'utf8'))).toEqual({ accepted: [KEY] })
  expect((await upshot('backtest', 'tidy', '--shadow')).exit).toBe(0)
})

test('no run, or no look at this code, is never called the same', async () => {
  const { upshot, keep, shadow } = await openProject()
  await keep({})
  const empty = await upshot('backtest', 'tidy', '--shadow')
  expect(empty.stderr).toContain('0 of 0 runs')
  expect([empty.stdout.includes('same'), empty.exit]).toEqual([false, 5])
  writeFileSync(shadow, 'edited')
  const edited = await upshot('backtest', 'tidy', '--shadow')
  expect(edited.stdout).toBe('tidy.shadow.ts: no process has looked at this code yet.\n')
  expect(edited.exit).toBe(5)
})

test('a workflow without a shadow is told where to write one', async () => {
  const { upshot } = await openProject()
  const { stderr, exit } = await upshot('backtest', 'tidy', '--shadow')
  expect(stderr).toContain('The workflow "tidy" has no shadow.')
  expect(stderr).toContain('Write its new version beside tidy.workflow.ts, as tidy.shadow.ts, with the same id.')
  expect(exit).toBe(5)
})

test('a shadow of which nothing can be said is no success', async () => {
  const { upshot, keep } = await openProject()
  await keep({ runs: 9, cannotSay: [{ question: 'nothing answers "look"', count: 9, samples: [] }] })
  const { stdout, exit } = await upshot('backtest', 'tidy', '--shadow')
  expect([stdout, exit]).toEqual([expect.stringContaining('9  cannot say  nothing answers "look"'), 8])
})

test('a shadow of another name than its module takes its place, so that no two modules define one id', async () => {
  const { upshot, keep, store, workflowsDir, shadow } = await openProject()
  await keep({ runs: 1 })
  const other = join(workflowsDir, 'neat.shadow.ts')
  writeFileSync(other, 'newer')
  const book = {
    ...beginShadow('neat.shadow.ts', NOW + 1),
    found: { ...NO_DIFFERENCES, runs: 1, answered: 1, same: 1 },
  }
  await store.saveShadow('tidy', { code: await hashModule(other), book, version: 0 })
  rmSync(shadow)
  const { stderr, exit } = await upshot('backtest', 'tidy', '--shadow')
  expect(stderr).toContain(`: mv ${other} ${join(workflowsDir, 'tidy.workflow.ts')}\n`)
  expect(exit).toBe(0)
})
