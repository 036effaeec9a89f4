import { expect, test } from 'vitest'
import { openRecorded } from './recorded-project.ts'

const ASKING = `async ({ event, step }) => {
  const verdict = await step.approve('may it go', {
    ask: 'Delete ' + event.data.file + '?', show: { file: event.data.file, size: 5 }, timeout: '30s',
  })
  if (verdict.approved) await step.run('note', () => 'noted', { target: 'notes' })
  return verdict.approved
}`

/** Answers people: one run is approved, the other one gets no word in time. */
async function openAsked(code = ASKING) {
  const opened = await openRecorded(['one', 'two'], code, async ({ store, clock }, run) => {
    const found = await store.listApprovals({ status: 'open', limit: 9, now: clock.now() })
    const [approval] = found.filter(({ question }) => question?.runId === run && question.step === 'may it go')
    const [first] = await store.listRuns({ limit: 9, workflow: 'tidy' })
    if (approval === undefined || first?.eventId !== 'evt_0') return
    const word = { actor: 'anna', reason: 'fine', only: null, answer: null, signature: null }
    const { id, hash } = approval
    await store.decideApproval({ approval: id, verdict: 'approved', hash, ...word }, clock.now())
  })
  const find = async (run: string) => (await opened.backtest(run, '--json')).json.data
  return { ...opened, find }
}

const changesOf = ({ groups }: { groups: { count: number; changes: { sign: string; class: string }[] }[] }) =>
  groups.map(({ count, changes }) => [count, ...changes.map(({ sign, class: kind }) => `${sign} ${kind}`)])

test('a question is answered as people have answered it, and the same one is no difference', async () => {
  const { find, store, runs } = await openAsked()
  const outputs = await Promise.all(runs.map(async (run) => (await store.findRun(run))?.output))
  expect(outputs).toEqual(['true', 'false'])
  expect(await find(ASKING)).toMatchObject({ runs: 2, same: 2, groups: [], cannotSay: [] })
})

test('a question that is no longer asked, or newly asked, is a difference', async () => {
  const { find } = await openAsked()
  const silent = ASKING.replace(/const verdict = .*?\n {2}\}\)/s, 'const verdict = { approved: true }')
  expect(changesOf(await find(silent))).toEqual([
    // A write whose result nobody knows ends the preview: the question may come after it.
    [1, '+ write'],
    [1, '- approve'],
  ])
  const { find: findAsked } = await openAsked(silent)
  const asked = await findAsked(ASKING)
  expect(changesOf(asked)).toEqual([[2, '+ approve']])
  expect(asked.groups[0].changes[0]).toMatchObject({ operation: 'may it go' })
})

test('another question is asked anew, and other evidence under the same question is named', async () => {
  const { find, backtest } = await openAsked()
  const other = await find(ASKING.replace('Delete ', 'Retire '))
  expect(changesOf(other)).toEqual([[2, '~ approve']])
  expect(other.groups[0].changes[0]).toMatchObject({ to: 'other `question`: ask' })
  const { stdout, exit } = await backtest(ASKING.replace('size: 5', 'size: 6'))
  expect(stdout).toContain('~ approve may it go')
  expect(stdout).toContain('`question` → other `question`: show')
  expect(exit).toBe(7)
})
