import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempFolder } from '../../../../support/temp-folder.ts'
import { openRecorded, writeTidy } from './recorded-project.ts'

/** Deletes each of the files that its event names. */
const CODE = `async ({ event, files }) => {
  for (const id of event.data.file.split('+')) {
    const file = await files.get({ service: 'storage_a', id })
    await files.delete(file, { expect: file })
  }
}`
const guard = (limits: string) => ` guard: { ${limits} },`
const TWO = guard('deletes: { perRun: 2 }')
const HELD = 'held by guard of tidy.deletes.perRun'

/** A run of two files, and one of three, whose last delete people decide. */
async function openHeld({ limits = TWO, verdict = 'approved' as 'approved' | 'denied' } = {}) {
  const decide = async ({ store, clock }: Pick<Awaited<ReturnType<typeof openRecorded>>, 'store' | 'clock'>) => {
    const [open] = await store.listApprovals({ status: 'open', limit: 1, now: clock.now() })
    if (open === undefined) throw new Error('nothing was held')
    const word = { actor: 'anna', reason: 'fine', only: null, answer: null, signature: null }
    await store.decideApproval({ approval: open.id, hash: open.hash, verdict, ...word }, clock.now())
  }
  const opened = await openRecorded(['tmp-a+tmp-b', 'tmp-a+tmp-b+tmp-c'], CODE, decide, limits)
  const args = ['backtest', 'tidy', '--since', '2020-01-01', '--workflows']
  return {
    ...opened,
    find: async (code: string, more: string, ...options: string[]) => {
      const { json, exit } = await opened.cli(...args, writeTidy(code, more), '--json', ...options)
      return { exit, same: json.data.same, keys: json.data.groups.map(({ key }: { key: string }) => key) }
    },
  }
}

test('runs that people let go on, or refused, are the same under the same limits', async () => {
  for (const verdict of ['approved', 'denied'] as const) {
    const { find, store, runs } = await openHeld({ verdict })
    const ends = await Promise.all(runs.map(async (run) => (await store.findRun(run))?.status))
    expect(ends).toEqual(['completed', verdict === 'approved' ? 'completed' : 'failed'])
    expect(await find(CODE, TWO)).toEqual({ exit: 0, same: 2, keys: [] })
    const { keys } = await find(CODE, guard('deletes: { perRun: 9 }'))
    expect(keys).toEqual([`- held files.delete storage_a ${HELD} → begins by itself`])
  }
})

test('an effect newly held, no longer held, or held by another limit is a difference, in each report', async () => {
  const { find } = await openHeld()
  const folder = tempFolder()
  const markdown = join(folder, 'r.md')
  const gone = `- held files.delete storage_a ${HELD} → begins by itself`
  expect(await find(CODE, guard('deletes: { perRun: 9 }'), '--markdown', markdown)).toEqual({
    exit: 7,
    same: 1,
    keys: [gone],
  })
  expect(readFileSync(markdown, 'utf8')).toContain(gone)
  expect((await find(CODE, guard('deletes: { perRun: 1 }'))).keys).toEqual([
    `+ held files.delete storage_a begins by itself → ${HELD}`,
  ])
  expect((await find(CODE, guard('bytes: { perRun: 15 }'))).keys).toEqual([
    `~ held files.delete storage_a ${HELD} → held by guard of tidy.bytes.perRun`,
  ])
  expect((await find(CODE, guard(`deletes: { perRun: 2 }, over: 'fail'`))).keys).toEqual([
    `~ held files.delete storage_a ${HELD} → refused by guard of tidy.deletes.perRun`,
  ])
})

test('a limit by the hour is the work of many runs, so no single one is said to differ by it', async () => {
  const { find } = await openHeld({ limits: guard('deletes: { perHour: 4 }') })
  expect(await find(CODE, guard('deletes: { perHour: 4 }'))).toEqual({ exit: 0, same: 2, keys: [] })
  expect(await find(CODE, guard('deletes: { perHour: 9 }'))).toEqual({ exit: 0, same: 2, keys: [] })
})

test('of two codes on the same answers, the one with more deletes is held, and nothing else is', async () => {
  const { find } = await openHeld()
  const more = CODE.replace(`split('+')`, `split('+').concat('tmp-d')`)
  const answers = join(tempFolder(), 'answers.json')
  const file = { service: 'storage_a', id: 'tmp-d', name: 'd', type: 'file', mimeType: null, createdAt: null }
  const facts = { size: 5, path: '/in/tmp-d.tmp', modifiedAt: '2026-01-01T00:00:00.000Z' }
  writeFileSync(answers, JSON.stringify({ 'files.get[storage_a:tmp-d]': { ...file, ...facts } }))
  expect((await find(more, TWO, '--fixtures', answers)).keys.sort()).toEqual([
    '+ delete files.delete storage_a',
    `+ delete files.delete storage_a; + held files.delete storage_a begins by itself → ${HELD}`,
  ])
  const base = writeTidy(CODE, TWO)
  expect((await find(more, TWO, '--fixtures', answers, '--against', base)).keys.sort()).toEqual([
    '+ delete files.delete storage_a',
    `+ delete files.delete storage_a; + held files.delete storage_a begins by itself → ${HELD}`,
  ])
  expect((await find('async () => {}', TWO)).keys).toEqual(['- delete files.delete storage_a'])
})
