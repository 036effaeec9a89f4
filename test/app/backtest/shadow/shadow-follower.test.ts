import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { constants, getPriority } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ShadowFollower } from '../../../../src/app/backtest/shadow/shadow-follower.ts'
import type { Notice } from '../../../../src/core/notices.ts'
import type { Store } from '../../../../src/core/store/store.ts'
import { openRecorded, TIDY, writeTidyIn } from '../../../cli/commands/safety/backtest/recorded-project.ts'
import { eventBody, incoming } from '../../../support/fixtures.ts'
import { tempFolder } from '../../../support/temp-folder.ts'
import { testConfig } from '../../../support/test-config.ts'

const KEEPS_TMP = TIDY.replace(`endsWith('.tmp')`, `endsWith('.old')`)
const SLOW = 50_000

async function openProject() {
  const project = await openRecorded([])
  const workflowsDir = tempFolder()
  const notices: Notice[] = []
  let number = 0
  return {
    ...project,
    workflowsDir,
    notices,
    write: (code: string) => {
      rmSync(join(workflowsDir, 'tidy.shadow.ts'), { force: true })
      writeTidyIn(workflowsDir, code, '', { file: 'tidy.shadow.ts' })
    },
    /** Runs the workflow on a file; the run of a `.tmp` sleeps first. */
    run: async (file: string) => {
      const body = eventBody(`evt_${number}`, 'file.created', { file })
      const part = { body, workflows: ['tidy'], receivedAt: project.clock.now() }
      const { runs } = await project.store.saveDelivery(incoming(`evt_${number++}`, part))
      return String(runs[0])
    },
    follow: (priority = constants.priority.PRIORITY_NORMAL) => {
      const config = testConfig(project.folder, { workflowsDir })
      const follower = new ShadowFollower(config, {
        ...{ store: project.store, clock: project.clock, priority },
        publish: (notice) => notices.push(notice),
      })
      onTestFinished(() => follower.stop())
      follower.start()
      return follower
    },
    /** The book of the newest shadow, once it fits. Time goes on in the meantime. */
    book: async (fits: (book: Book) => boolean): Promise<Book> => {
      let found: Book | undefined
      const look = async () => {
        project.clock.advance(500)
        found = (await project.store.listShadows('tidy'))[0]?.book
        return found !== undefined && fits(found)
      }
      await expect.poll(look, { timeout: SLOW }).toBe(true)
      return found as Book
    },
  }
}

type Book = Awaited<ReturnType<Store['listShadows']>>[number]['book']

test('a shadow that does the same differs in nothing, also from a run that ends days after it was made', async () => {
  const { write, follow, book, run, passOf, advance, clock, notices } = await openProject()
  write(TIDY)
  follow()
  await book(({ found }) => found.runs === 0)
  await passOf(await run('mov-c'))
  const sleeping = await run('tmp-a')
  await passOf(sleeping)
  expect(await book(({ found, late }) => found.runs > 0 && late.length > 0)).toMatchObject({
    ...{ file: 'tidy.shadow.ts', late: [sleeping], missed: 0 },
    found: { runs: 1, same: 1, answered: 1, groups: [] },
  })
  clock.advance(3 * 86_400_000)
  await advance(sleeping, '1m')
  expect(await book(({ late }) => late.length === 0)).toMatchObject({ found: { runs: 2, same: 2, groups: [] } })
  expect(notices).toEqual([])
})

test('of two processes that follow, one counts each run, and a difference is told once', async () => {
  const { write, follow, book, run, passOf, notices } = await openProject()
  write(TIDY.replace(`file: file.id, size: file.size`, `file: file.id`))
  follow()
  follow()
  await book(({ found }) => found.runs === 0)
  for (const file of ['mov-a', 'mov-b', 'mov-c']) await passOf(await run(file))
  await book(({ found }) => found.runs === 3)
  await passOf(await run('mov-d'))
  const { found } = await book(({ found }) => found.runs === 4)
  const key = '~ write note notes `input` → other `input`: size'
  expect(found).toMatchObject({ same: 0, groups: [{ key, count: 4 }] })
  expect(found.groups[0]?.samples).toHaveLength(4)
  expect(notices).toEqual([
    {
      ...{ kind: 'shadow.differs', workflow: 'tidy', file: 'tidy.shadow.ts', difference: key },
      sample: expect.stringMatching(/^run_/),
    },
  ])
})

test('edited code begins anew, the former counts stay, and what is accepted is not told', async () => {
  const { write, follow, book, run, passOf, store, workflowsDir, notices } = await openProject()
  write(KEEPS_TMP)
  follow()
  await book(({ found }) => found.runs === 0)
  await passOf(await run('mov-c'))
  const { since } = await book(({ found }) => found.runs === 1)
  const key = '~ write note notes `input` → other `input`: size'
  writeTidyIn(workflowsDir, TIDY.replace(`file: file.id, size: file.size`, `file: file.id`), '', {
    file: 'tidy.shadow.ts',
  })
  const accepted = join(workflowsDir, 'backtest')
  await book((fresh) => fresh.since > since)
  mkdirSync(accepted)
  writeFileSync(join(accepted, 'tidy.json'), JSON.stringify({ accepted: [key] }))
  await passOf(await run('mov-d'))
  expect(await book(({ found }) => found.runs === 1)).toMatchObject({ found: { groups: [{ key, count: 1 }] } })
  expect((await store.listShadows('tidy')).map((each) => each.book.found.runs)).toEqual([1, 1])
  expect(notices).toEqual([])
})

test('a follower that begins again goes on where the last one ended', async () => {
  const { write, follow, book, run, passOf } = await openProject()
  write(TIDY)
  const first = follow()
  await book(({ found }) => found.runs === 0)
  await passOf(await run('mov-c'))
  await book(({ found }) => found.runs === 1)
  await first.stop()
  await passOf(await run('mov-d'))
  follow()
  expect(await book(({ found }) => found.runs === 2)).toMatchObject({ found: { same: 2 } })
})

test('a shadow that eats its memory loses three rooms, and is then left alone until its code changes', async () => {
  const { write, follow, book, run, passOf, notices, clock } = await openProject()
  write(`async () => { for (let all = [1.5]; ; all = all.concat(all)); }`)
  follow()
  await book(({ found }) => found.runs === 0)
  await passOf(await run('mov-c'))
  const ended = () => {
    clock.advance(2_500)
    return notices
  }
  await expect.poll(ended, { timeout: SLOW }).toMatchObject([{ kind: 'shadow.ended', file: 'tidy.shadow.ts' }])
  write(TIDY)
  await passOf(await run('mov-d'))
  await book(({ since }) => since > 0)
  expect(notices).toHaveLength(1)
})

test('a module without a workflow is named at once', async () => {
  const { workflowsDir, follow, notices, clock } = await openProject()
  writeFileSync(join(workflowsDir, 'tidy.shadow.ts'), 'export default 1\n')
  follow()
  const told = () => {
    clock.advance(2_500)
    return notices
  }
  await expect
    .poll(told, { timeout: SLOW })
    .toMatchObject([{ kind: 'shadow.ended', error: { message: expect.stringContaining('has no workflow') } }])
})

test('a shadow and its room have the lowest priority unless another is set, and end with their follower', async () => {
  const { write, workflowsDir, folder, clock, store, follow, book } = await openProject()
  write(TIDY)
  const others = new Set(descendants(process.pid))
  const own = () => descendants(process.pid).filter((pid) => !others.has(pid))
  const usual = new ShadowFollower(testConfig(folder, { workflowsDir }), { store, clock, publish: () => {} })
  usual.start()
  await expect.poll(() => own().map(priorityOf), { timeout: SLOW }).toContain(constants.priority.PRIORITY_LOW)
  // It need not have loaded its code before.
  await usual.stop()
  expect(own()).toEqual([])
  // At the lowest one, a busy machine would let the test wait for long.
  const follower = follow(constants.priority.PRIORITY_BELOW_NORMAL)
  await book(({ found }) => found.runs === 0)
  expect(own().map(priorityOf)).toEqual(Array(2).fill(constants.priority.PRIORITY_BELOW_NORMAL))
  await follower.stop()
  expect(own()).toEqual([])
})

/** Null for a process that has ended meanwhile. */
function priorityOf(pid: number): number | null {
  return existsSync(`/proc/${pid}`) ? getPriority(pid) : null
}

/** Processes that this one has started, and those that they have. */
function descendants(pid: number): number[] {
  const threads = `/proc/${pid}/task`
  const children = readdirSync(threads).flatMap((id) => readFileSync(join(threads, id, 'children'), 'utf8').split(' '))
  return children.filter((child) => child !== '').flatMap((child) => [Number(child), ...descendants(Number(child))])
}
