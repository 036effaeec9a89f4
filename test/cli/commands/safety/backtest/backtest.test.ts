import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { eventBody, incoming, NOW } from '../../../../support/fixtures.ts'
import { tempFolder } from '../../../../support/temp-folder.ts'
import { runCli } from '../../../support/run-cli.ts'
import { openRecorded, TIDY, writeTidy } from './recorded-project.ts'

test('code that has not changed gives no difference, and the database stays byte for byte', async () => {
  const { store, runs, folder, backtest } = await openRecorded()
  const rows = await store.readRecordings(runs)
  const bytes = () => ['upshot.db', 'upshot.db-wal'].map((name) => readFileSync(join(folder, name)).toString('base64'))
  const before = bytes()
  const { json, exit, stdout } = await backtest(TIDY, '--outputs', '--json')
  expect(json.data, stdout).toMatchObject({
    workflow: 'tidy',
    runs: 5,
    answered: 5,
    same: 5,
    groups: [],
    cannotSay: [],
  })
  expect(json.data).toMatchObject({ unsteady: [], refused: [], guard: [] })
  expect(exit).toBe(0)
  expect(bytes()).toEqual(before)
  expect(await store.readRecordings(runs)).toEqual(rows)
})

test('edited code is told by groups of what it would do otherwise, with counts, bytes and samples', async () => {
  const { runs, backtest } = await openRecorded()
  const edited = TIDY.replace(`endsWith('.tmp')`, `includes('/in/')`).replace(', { expect: file }', '')
  const { json, exit } = await backtest(edited, '--json')
  expect(exit).toBe(7)
  const { groups } = json.data
  expect(groups.map(({ key, count, bytes }: never) => ({ key, count, bytes }))).toEqual([
    {
      key: '+ delete files.delete storage_a; + send tell tidy.done; - write note notes',
      count: 2,
      bytes: 14,
    },
    { key: '~ delete files.delete storage_a `expect` → no `expect`', count: 2, bytes: 0 },
    {
      key: expect.stringMatching(/^\+ delete .* ~ end failed: Error: step "check" failed .* → completed$/),
      count: 1,
      bytes: 1_000,
    },
  ])
  expect(groups[1].samples.map(({ run }: { run: string }) => run).sort()).toEqual([runs[0], runs[1]].sort())
})

test('what changed is named: the input of a write, the data of an event, another end, another name', async () => {
  const { backtest } = await openRecorded(['tmp-a', 'mov-c'])
  // The effects of the first run are not those of the second.
  const keys = async (...edits: [from: string, to: string][]) => {
    for (const [from] of edits) expect(TIDY).toContain(from)
    const edited = edits.reduce((code, [from, to]) => code.replace(from, to), TIDY)
    const { json } = await backtest(edited, '--json')
    return json.data.groups.map(({ key }: { key: string }) => key).sort()
  }
  const data = [`{ file: file.id, outcome }`, `{ file: file.id, outcome: 'gone' }`] as const
  expect(await keys(['size: file.size }', 'size: 0, more: 1 }'], [...data])).toEqual([
    '~ send tell tidy.done `data` → other `data`: outcome',
    '~ write note notes `input` → other `input`: more, size',
  ])
  const end = [`return { decision: 'kept'`, `return x.y; return { decision: 'kept'`] as const
  expect(await keys([`'tidy.done'`, `'tidy.ended'`], [...end])).toEqual([
    '+ send tell tidy.ended; - send tell tidy.done',
    '~ end completed → failed: ReferenceError: x is not defined',
  ])
})

test('a step that nothing has recorded is a question, which fixtures or a new call answer', async () => {
  const { backtest } = await openRecorded(['tmp-a', 'tmp-b', 'mov-c'])
  const asking = TIDY.replace('if (file', `await step.run(['look', file.id], () => 2, { effect: 'read' })\n  if (file`)
  const { json, exit } = await backtest(asking, '--json')
  expect(exit).toBe(8)
  expect(json.data).toMatchObject({
    runs: 3,
    answered: 0,
    same: 0,
    groups: [],
    cannotSay: [{ question: 'step "look[…]": no recorded answer to this read', count: 3 }],
  })
  const short = await backtest(asking, '--require', '90%')
  expect([short.exit, short.stderr]).toEqual([8, expect.stringContaining('about 0 % of the runs; 90 % are required')])
  const fixtures = join(tempFolder(), 'fixtures.json')
  writeFileSync(fixtures, JSON.stringify({ look: 3 }))
  expect((await backtest(asking, '--fixtures', fixtures, '--json')).json.data).toMatchObject({ same: 3, cannotSay: [] })
  const adding = TIDY.replace('if (file', `await step.run('audit', () => 1)\n  if (file`)
  expect((await backtest(adding, '--json')).json.data.groups).toMatchObject([{ key: '+ write audit', count: 3 }])
})

test('a function whose step is run again gives its new result', async () => {
  const { backtest } = await openRecorded(['mov-huge'])
  const edited = TIDY.replace('file.size > 100', 'file.size > 5_000')
  expect((await backtest(edited, '--json')).json.data).toMatchObject({ same: 1 })
  const { json, exit } = await backtest(edited, '--rerun', 'check', '--json')
  expect(json.data.groups).toMatchObject([{ key: expect.stringMatching(/^~ end failed.* → completed$/) }])
  expect(exit).toBe(7)
})

test('a read that is run again sends what cannot be judged only where it is told to trust reads', async () => {
  const { backtest } = await openRecorded(['mov-huge'])
  const ask = `await fetch('http://127.0.0.1:9', { method: 'POST' }).catch(() => {})`
  const edited = TIDY.replace('const check = () => {', `const check = async () => {\n${ask}`)
  const refused = await backtest(edited, '--rerun', 'check', '--json')
  expect(refused.json.data.refused).toMatchObject([
    { call: expect.stringContaining('fetch POST in the read'), count: 1 },
  ])
  const trusted = await backtest(edited, '--rerun', 'check', '--trust-reads', '--json')
  expect([trusted.exit, trusted.json.data.refused]).toEqual([0, []])
})

test('code that fails, is unsteady or acts outside of steps has an exit code of its own', async () => {
  const { backtest, runs } = await openRecorded(['mov-c'])
  const unsteady = await backtest(TIDY.replace('at: now()', 'at: performance.now()'), '--json')
  expect(unsteady.json.data.unsteady).toMatchObject([{ run: runs[0], event: 'evt_0' }])
  expect(unsteady.exit).toBe(1)
  const acting = await backtest(`async () => { await fetch('http://127.0.0.1:9/').catch(() => {}) }`, '--json')
  expect(acting.json.data.refused).toMatchObject([{ call: expect.stringContaining('fetch GET outside'), count: 1 }])
  expect(acting.exit).toBe(7)
  const renamed = TIDY.replace(`'note'`, `'notes'`)
  expect((await backtest(renamed, '--fail-on', 'ends')).exit).toBe(0)
  const none = await backtest(TIDY, '--type', 'file.deleted')
  expect([none.exit, none.stderr]).toEqual([5, expect.stringContaining('choose a longer time')])
})

test('a workflow without any recorded run is told as new, after a line that comes first', async () => {
  const { cli } = await openRecorded(['mov-c'])
  const folder = tempFolder()
  const module = join(folder, 'fresh.workflow.js')
  writeFileSync(module, readFileSync(join(writeTidy(TIDY), 'tidy.workflow.js'), 'utf8').replace(`'tidy'`, `'fresh'`))
  const { exit, stderr } = await cli('backtest', 'fresh', '--workflows', folder)
  expect([exit, stderr.split('\n')]).toEqual([
    5,
    [
      'Replaying recorded runs of fresh …',
      expect.stringMatching(
        /^No run of "fresh" is recorded: .* What it would do: upshot plan <event> --workflow fresh$/,
      ),
      '',
    ],
  ])
  const { json } = await cli('backtest', 'fresh', '--workflows', folder, '--json')
  expect(json.data).toMatchObject({ runs: 0, isNew: true })
})

test('limits that the new code would exceed are counted', async () => {
  const { backtest, cli } = await openRecorded(['tmp-a', 'tmp-b', 'mov-c'])
  const { stdout } = await backtest(TIDY.replace(`endsWith('.tmp')`, `includes('/in/')`), '--limit', '2')
  expect(stdout).toContain('against what 2 runs did')
  const guarded = writeTidy(TIDY, ` guard: { deletes: { perHour: 1 } },`)
  const { json } = await cli('backtest', 'tidy', '--since', '2020-01-01', '--workflows', guarded, '--json')
  expect(json.data.guard).toEqual([{ limit: 'guard of tidy.deletes.perHour', most: 1, times: 1, largest: 2 }])
})

test('a sample is the same runs each time, and an account or an end of the window leaves runs out', async () => {
  const { backtest, runs } = await openRecorded(['tmp-a', 'tmp-b', 'mov-c', 'mov-d'])
  const edited = TIDY.replace(`'note'`, `'notes'`).replace(`'tell'`, `'told'`)
  const previewed = async (...args: string[]) => {
    const { json, exit } = await backtest(edited, ...args, '--json')
    const samples = json.data.groups.flatMap((group: { samples: { run: string }[] }) => group.samples)
    return { exit, count: json.data.runs, runs: samples.map(({ run }: { run: string }) => run).sort() }
  }
  const sample = await previewed('--sample', '2')
  expect([sample.count, sample.runs.length]).toEqual([2, 2])
  expect(runs).toEqual(expect.arrayContaining(sample.runs))
  expect(await previewed('--sample', '2')).toEqual(sample)
  const all = await previewed('--sample', '9', '--account', 'default')
  expect([all.count, all.runs]).toEqual([4, [...runs].sort()])
  expect(await previewed('--account', 'other')).toEqual({ exit: 5, count: 0, runs: [] })
  expect((await previewed('--until', '2020-01-02')).count).toBe(0)
})

test('a plan borrows the result of another run, and with --strict it is open there', async () => {
  const { cli, runs } = await openRecorded(['mov-c', 'mov-d'])
  const plan = (...args: string[]) =>
    cli('plan', 'evt_0', '--workflow', 'tidy', '--workflows', writeTidy(TIDY), '--reads', 'recorded', '--json', ...args)
  const { effects, end } = (await plan()).json.data
  expect([effects, end]).toMatchObject([[{ step: 'note', source: 'borrowed', from: runs[1] }], { kind: 'completed' }])
  expect((await plan('--strict')).json.data).toMatchObject({
    effects: [{ step: 'note', source: 'none' }],
    end: { kind: 'open', step: 'note' },
  })
})

test('a person reads one line for each difference, at 100 columns', async () => {
  const { backtest, runs } = await openRecorded(['tmp-a', 'mov-c'])
  const { stdout, stderr } = await backtest(TIDY.replace(', { expect: file }', ''))
  expect(stderr).toContain('+ by this code only, - by the run only')
  const lines = stdout.trimEnd().split('\n')
  expect(lines).toEqual([
    expect.stringMatching(/^tidy: code [0-9a-f]{8} against what 2 runs did$/),
    '         1  same',
    '         1  ~ delete files.delete storage_a `expect` → no `expect`',
    `            such as ${runs[0]} of evt_0`,
  ])
})

test('one module of any name is tried beside the present one, which stays as it is', async () => {
  const { cli } = await openRecorded(['tmp-a', 'mov-c'])
  const edited = TIDY.replace(', { expect: file }', '')
  const folder = writeTidy(TIDY)
  const present = join(folder, 'tidy.workflow.js')
  const shadow = join(folder, 'tidy.shadow.ts')
  copyFileSync(join(writeTidy(edited), 'tidy.workflow.js'), shadow)
  const SINCE = ['--since', '2020-01-01']
  const tried = (...args: string[]) => cli('backtest', 'tidy', ...SINCE, '--code', shadow, '--json', ...args)
  const group = { key: '~ delete files.delete storage_a `expect` → no `expect`', count: 1 }

  const first = await tried()
  expect([first.json.data.same, first.json.data.groups, first.exit]).toEqual([1, [expect.objectContaining(group)], 7])
  const compared = await tried('--against', present)
  expect(compared.json.data).toMatchObject({ groups: [group] })
  const same = await cli('backtest', 'tidy', ...SINCE, '--workflows', folder, '--json')
  expect([same.json.data.same, same.exit]).toEqual([2, 0])

  expect((await tried('--accept')).exit).toBe(0)
  expect(JSON.parse(readFileSync(join(folder, 'backtest/tidy.json'), 'utf8'))).toEqual({ accepted: [group.key] })
  writeFileSync(shadow, readFileSync(shadow, 'utf8').replace(`'note'`, `'notes'`))
  const again = await tried()
  expect([again.exit, again.json.data.groups.length]).toEqual([7, 2])
  expect(again.json.data.candidate).not.toBe(first.json.data.candidate)
})

test('a module that cannot be tried is refused with what to name instead', async () => {
  const { cli } = await openRecorded(['mov-c'])
  const folder = writeTidy(TIDY)
  const module = join(folder, 'tidy.workflow.js')
  const stderr = async (...args: string[]) => (await cli('backtest', ...args)).stderr
  expect(await stderr('tidy', '--code', folder)).toContain('cannot be read as a file')
  expect(await stderr('tidy', '--code', module, '--workflows', folder)).toContain('both name the code')
  expect(await stderr('tidy', '--code', module, '--against', folder)).toContain('with one module only')
  expect(await stderr('other', '--code', module)).toContain(`${module} does not define the workflow "other".`)
})

/** Copies a file and deletes its source, with reads and a sleep around; `order` names the parts. */
const MOVE = (order: string) => `async ({ event, step, files }) => {
  const file = await files.get({ service: 'storage_a', id: event.data.file })
  const copy = () => step.run('copy', () => 'copied', { target: 'archive' })
  const remove = () => files.delete(file)
  const pause = () => step.sleep('pause', '1m')
  const note = (n) => step.run(['note', n], () => n)
  ${order}
}`

test('"copy, then delete" turned round is a difference, and so is a delete that waits no more', async () => {
  const { backtest } = await openRecorded(['tmp-a', 'mov-c'], MOVE('await copy(); await pause(); await remove()'))
  const keysOf = async (order: string) => {
    const { json, exit } = await backtest(MOVE(order), '--json')
    return [...json.data.groups.map(({ key }: { key: string }) => key), exit]
  }
  const turned = '~ order copy archive before files.delete storage_a → after it'
  expect(await keysOf('await copy(); await pause(); await remove()')).toEqual([0])
  expect(await keysOf('await copy(); await note(1); await pause(); await remove()')).toEqual(['+ write note', 7])
  expect(await keysOf('await remove(); await pause(); await copy()')).toEqual([turned, 7])
  expect(await keysOf('await remove(); await copy()')).toEqual([turned, 7])
  const against = await backtest(
    MOVE('await Promise.all([copy(), remove()])'),
    '--against',
    writeTidy(MOVE('await copy(); await remove()')),
    '--json',
  )
  expect(against.json.data.groups).toMatchObject([
    { key: '~ order files.delete storage_a after copy archive → without waiting for it', count: 2 },
  ])
})

test('branches at once have no order: neither unchanged code nor another order of them is a difference', async () => {
  const branches = [
    'async () => { await note(1); await copy(); await note(2) }',
    'async () => { await pause(); await remove(); await note(3) }',
    'async () => { for (const n of [4, 5, 6]) await note(n) }',
  ].map((each) => `(${each})()`)
  const all = (parts: string[]) =>
    MOVE(`await Promise.all([${parts}]); await step.map('each', [7, 8, 9], String, note)`)
  const { backtest } = await openRecorded(['tmp-a', 'mov-c', 'mov-d'], all(branches))
  for (const parts of [branches, [...branches].reverse()]) {
    const { json, exit, stdout } = await backtest(all(parts), '--json')
    expect([json.data.same, json.data.groups, exit], stdout).toEqual([3, [], 0])
  }
  const turned = branches.map((each) => each.replace('await note(1); await copy()', 'await copy(); await note(1)'))
  expect((await backtest(all(turned), '--json')).json.data.groups).toMatchObject([
    { key: '~ order note before copy archive → after it', count: 3 },
  ])
})

test('a backtest whose reader closes the pipe keeps its exit code, and leaves no folder behind', async () => {
  const { folder } = await openRecorded(['tmp-a'])
  const [code, temporary] = [join(writeTidy(TIDY.replace("'.tmp'", "'.mov'")), 'tidy.workflow.js'), tempFolder()]
  const args = ['backtest', 'tidy', '--since', '2020-01-01', '--code', code, '--json']
  const { exit, stderr } = await runCli(folder, args, { closes: 'at once', env: { TMPDIR: temporary } })
  expect([exit, stderr, readdirSync(temporary)]).toEqual([7, '', []])
})

test('events that start the workflow no more, or only now, are differences with names and counts', async () => {
  const { store, backtest, cli } = await openRecorded(['tmp-a', 'mov-c'])
  const loaded = { id: 'tidy', file: 'tidy.workflow.js', eventTypes: ['file.created'], schedule: null }
  await store.saveWorkflows({ workflows: [loaded], broken: [] }, NOW)
  await store.saveDelivery(incoming('evt_new', { body: eventBody('evt_new', 'file.updated', {}), receivedAt: NOW }))
  const on = (types: string) => writeTidy(TIDY, '', types)
  const run = (folder: string, ...args: string[]) =>
    cli('backtest', 'tidy', '--since', '2020-01-01', '--workflows', folder, '--json', ...args)
  const keysOf = async (folder: string, ...args: string[]) => {
    const { json, exit, stdout } = await run(folder, ...args)
    expect(exit, stdout).toBe(7)
    return json.data.groups.map(({ key, count }: { key: string; count: number }) => `${count} ${key}`)
  }
  expect(await keysOf(on('transfer.completed'))).toEqual([
    '0 + start transfer.completed',
    '2 - start file.created starts it → starts none: it runs on transfer.completed',
  ])
  expect(await keysOf(on('file.*'))).toEqual(['1 + start file.*'])
  expect(await keysOf(on('file.created'), '--against', on('file.*'))).toEqual(['0 - start file.*'])
  // Of a key that throws, no run would begin.
  const throwing = ` singleton: { key: () => { throw new Error('no key') } },`
  const { json } = await run(writeTidy(TIDY, throwing))
  expect(json.data.groups.map(({ key }: { key: string }) => key)).toEqual(
    Array(2).fill(expect.stringMatching(/completed → halted: .*no key/)),
  )
  expect(await keysOf(writeTidy(TIDY, ' singleton: true,'), '--against', on('file.created'))).toEqual([
    expect.stringMatching(/^0 ~ start limits {} → .*singleton/),
  ])
  expect((await backtest(TIDY, '--json')).json.data).toMatchObject({ same: 2, groups: [] })
})
