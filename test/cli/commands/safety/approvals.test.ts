import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { requireHash } from '../../../../src/cli/commands/safety/approvals/decide.ts'
import type { Approval } from '../../../../src/core/safety/approval.ts'
import type { Environment } from '../../../../src/project/config/environment.ts'
import { beginDelete, NONE } from '../../../contract/support/begin-delete.ts'
import { QUESTION } from '../../../contract/support/waiting-runs.ts'
import { checkpoint } from '../../../support/fixtures.ts'
import { openTerminal } from '../../support/fake-terminal.ts'
import { runHere } from '../../support/run-here.ts'
import { beginRun, openTestProject } from '../../support/test-project.ts'
import { askDelete, holdDeletes } from './support/hold-deletes.ts'

const DAY = 86_400_000

/** A project with an approval of three deletes. */
async function openHeld() {
  const { store, dataDir, cli } = await openTestProject()
  const { lease, id } = await holdDeletes(store, ['a', 'b', 'c'])
  const hashes = (await store.listApprovalItems({ approval: id, limit: 9 })).map(({ hash }) => hash.slice(0, 8))
  const kindsOf = async () => {
    const kinds: string[] = []
    for (const key of ['a', 'b', 'c']) kinds.push((await askDelete(store, lease, key)).kind)
    return kinds
  }
  return { store, dataDir, cli, id, lease, hashes, last: hashes[2] ?? '', kindsOf }
}

/** A project with a question that asks for a typed answer. */
async function openAsked() {
  const { store, dataDir, cli } = await openTestProject()
  const now = Date.now()
  const lease = await beginRun(store, 'evt_asked')
  const keep = { type: 'array', items: { type: 'string' } }
  const answer = { type: 'object', properties: { keep }, required: ['keep'] }
  const asked = { ask: 'Delete batch 7?', show: { batch: 7 }, answer }
  const approve = { ...QUESTION, ...asked, openedAt: now, expiresAt: now + DAY }
  const waiting = { kind: 'approve', effect: 'read', status: 'waiting', output: null, finishedAt: null } as const
  await store.saveCheckpoint(lease, checkpoint('ask', waiting), undefined, { approve })
  const found = await store.findQuestion(lease.runId, 'ask', now)
  return { store, dataDir, cli, id: found?.id ?? '', hash: found?.hash.slice(0, 8) ?? '' }
}

test('"approvals list" shows what waits, as a table and as JSON', async () => {
  const { cli, dataDir, id } = await openHeld()
  const { exit, json } = await cli('approvals', 'list')
  expect(exit).toBe(0)
  expect(json.data).toMatchObject([{ id, status: 'open', kind: 'guard', workflow: 'follow-up', items: 3, bytes: 300 }])
  const { stdout, stderr } = await runHere(dataDir, ['approvals', 'list'])
  expect(stdout).toContain(id)
  expect(stdout).toContain('guard.all.deletes.perHour')
  expect(stderr).toContain(`upshot approvals show ${id}`)
  expect((await cli('approvals', 'list', '--workflow', 'count')).json.data).toEqual([])
  expect((await cli('approvals', 'list', '--status', 'denied')).json.data).toEqual([])
})

test('"approvals list" shows how much a question about deletes is for, and nothing for one without', async () => {
  const { cli, dataDir } = await openAsked()
  expect((await cli('approvals', 'list')).json.data).toMatchObject([{ kind: 'question', items: 0, bytes: 0 }])
  expect((await runHere(dataDir, ['approvals', 'list'])).stdout).not.toContain('0 B')
})

test('"approvals show" lists each file with its path and size, and the hash that names the list', async () => {
  const { cli, dataDir, id, hashes, last } = await openHeld()
  const { data } = (await cli('approvals', 'show', id)).json
  expect(data.list).toMatchObject(
    ['a', 'b', 'c'].map((key, index) => ({
      number: index + 1,
      path: `/${key}`,
      bytes: 100,
      target: `storage_a:${key}`,
      state: 'open',
      hash: expect.stringContaining(hashes[index] ?? ''),
    })),
  )
  const { stdout, stderr } = await runHere(dataDir, ['approvals', 'show', id])
  for (const text of ['/a', '/b', '/c', '100 B', `hash  ${last}`]) expect(stdout).toContain(text)
  expect(stderr).toContain(`upshot approvals approve ${id} --hash ${last}`)
})

test('"approvals show" says which entry is a folder, and counts one run as one', async () => {
  const { store, dataDir, cli, lease, id } = await openHeld()
  const step = checkpoint('old', { effect: 'delete', target: 'storage_a:old' })
  const asked = { path: '/old', bytes: null, modifiedAt: '2026-05-01T12:00:00.000Z', isFolder: true } as const
  await beginDelete(store, lease, step, { limits: NONE, asked, now: Date.now() })
  const list = (await cli('approvals', 'show', id)).json.data.list
  expect(list.map(({ isFolder }: { isFolder: boolean }) => isFolder)).toEqual([false, false, false, true])
  const { stdout } = await runHere(dataDir, ['approvals', 'show', id])
  expect(stdout).toMatch(/ \/old +folder /)
  expect(stdout).toContain('A folder goes with everything in it.')
  expect(stdout).toContain('4 of 4 items of 1 run,')
})

test('"approvals approve" with the hash of an earlier item approves up to it, and the rest waits on', async () => {
  const { cli, id, hashes, kindsOf } = await openHeld()
  const { exit, json } = await cli('approvals', 'approve', id, '--hash', hashes[1] ?? '', '--reason', 'checked')
  expect({ exit, data: json.data }).toMatchObject({ exit: 0, data: { status: 'approved', granted: 2, moved: 1 } })
  expect(await kindsOf()).toEqual(['granted', 'granted', 'held'])
  const { data } = (await cli('approvals', 'list')).json
  expect(data).toMatchObject([{ id: json.data.next, openItems: 1 }])
  const votes = (await cli('approvals', 'show', id)).json.data.votes
  expect(votes).toMatchObject([{ verdict: 'approved', reason: 'checked', actor: expect.stringMatching(/^cli:/) }])
})

test('"approvals approve --only" approves these numbers and no other', async () => {
  const { dataDir, id, last, kindsOf } = await openHeld()
  const args = ['approvals', 'approve', id, '--hash', last, '--only', '1,3']
  const { exit, stdout } = await runHere(dataDir, args)
  expect({ exit, stdout }).toMatchObject({
    exit: 0,
    stdout: expect.stringMatching(/^Approved 2 items\. The other 1 waits in approval apr_/),
  })
  expect(await kindsOf()).toEqual(['granted', 'held', 'granted'])
})

test.each(['0', '3-1', 'all', '1;2'])(
  '"approvals approve --only %s" is refused, and nothing is approved',
  async (only) => {
    const { cli, id, last, kindsOf } = await openHeld()
    const { exit, json } = await cli('approvals', 'approve', id, '--hash', last, '--only', only)
    expect({ exit, code: json.error.code }).toEqual({ exit: 2, code: 'invalid_request' })
    expect(await kindsOf()).toEqual(['held', 'held', 'held'])
  },
)

test('"approvals approve" without a hash needs the number of items typed, and --yes is not enough', async () => {
  const { store, cli, id, kindsOf } = await openHeld()
  const { exit, json } = await cli('approvals', 'approve', id, '--yes')
  expect({ exit, code: json.error.code }).toEqual({ exit: 3, code: 'needs_confirmation' })
  expect(await kindsOf()).toEqual(['held', 'held', 'held'])
  const approval = (await store.findApproval(id, Date.now())) as Approval
  const typed = async (text: string, environment: Environment = {}) => {
    const { out, streams } = openTerminal()
    streams.stdin.write(text)
    return requireHash(out, approval, undefined, environment)
  }
  expect(await typed('3\n')).toBe(approval.hash)
  await expect(typed('2\n')).rejects.toMatchObject({ code: 'needs_confirmation' })
  await expect(typed('y\n')).rejects.toMatchObject({ code: 'needs_confirmation' })
  await expect(typed('3\n', { CI: 'true' })).rejects.toMatchObject({ code: 'needs_confirmation' })
})

test('"approvals approve --dry-run" approves nothing', async () => {
  const { cli, id, last, kindsOf } = await openHeld()
  const { exit, json } = await cli('approvals', 'approve', id, '--hash', last, '--dry-run')
  expect({ exit, data: json.data }).toMatchObject({
    exit: 0,
    data: { dryRun: true, will: expect.stringMatching(/^approve 3 items/) },
  })
  expect(await kindsOf()).toEqual(['held', 'held', 'held'])
})

test('"approvals show" prints the evidence of a question as it is read, a fact a line', async () => {
  const { dataDir, id } = await openAsked()
  const { stdout } = await runHere(dataDir, ['approvals', 'show', id])
  expect(stdout.split('\n')).toEqual(expect.arrayContaining(['{', '  "batch": 7', '}']))
})

test('"approvals approve --answer" takes an answer that fits its question, and refuses others', async () => {
  const { store, cli, id, hash } = await openAsked()
  const approve = (...more: string[]) => cli('approvals', 'approve', id, '--hash', hash, ...more)
  for (const [answer, why] of [
    [['--answer', '{keep'], 'is not JSON'],
    [['--answer', '{"keep": "a"}'], 'answer.keep'],
    [[], 'The question asks for an answer, and none was given: answer.keep'],
  ] as const) {
    const { exit, json } = await approve(...answer)
    expect({ exit, message: json.error.message }).toEqual({ exit: 2, message: expect.stringContaining(why) })
  }
  expect(await store.findApproval(id, Date.now())).toMatchObject({ status: 'open', votes: [] })
  expect(await approve('--answer', '{"keep": ["/a"]}')).toMatchObject({
    exit: 0,
    json: { data: { status: 'approved' } },
  })
  expect(await store.findApproval(id, Date.now())).toMatchObject({ status: 'approved', answer: '{"keep":["/a"]}' })
})

test('digits that begin two hashes of a list name neither, and the whole hash names one', async () => {
  const { store, dataDir, cli, id, last } = await openHeld()
  const db = new Database(join(dataDir, 'upshot.db'))
  db.prepare('UPDATE approval_item SET hash = ? WHERE number = 1').run(last.padEnd(64, '0'))
  db.close()
  expect(await cli('approvals', 'approve', id, '--hash', last)).toMatchObject({
    exit: 1,
    json: { error: { code: 'conflict', message: expect.stringContaining('begins two hashes') } },
  })
  const { hash = '' } = (await store.findApproval(id, Date.now())) ?? {}
  expect(await cli('approvals', 'approve', id, '--hash', hash)).toMatchObject({
    exit: 0,
    json: { data: { granted: 3 } },
  })
})
