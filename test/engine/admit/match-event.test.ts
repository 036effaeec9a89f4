import { expect, test } from 'vitest'
import { z } from 'zod'
import { cron } from '../../../src/author/cron.ts'
import { defineEvent, defineWorkflow } from '../../../src/author/index.ts'
import type { AnyWorkflow } from '../../../src/author/workflow.ts'
import type { EventRecord } from '../../../src/core/incoming/event.ts'
import { matchEvent } from '../../../src/engine/admit/match-event.ts'
import { NOW } from '../../support/fixtures.ts'

const EVENT = { id: 'evt_1', type: 'match.asked', created: '2026-05-01T12:00:00Z', data: { size: 3, path: '/in/a' } }
const RECORD: EventRecord = {
  id: EVENT.id,
  account: 'default',
  type: EVENT.type,
  origin: 'webhook',
  body: JSON.stringify(EVENT),
  createdAt: NOW,
  receivedAt: NOW,
  stream: 0,
  seq: 1,
}
const FACTS = { isSelfCaused: false, spellings: {} }

const strict = defineEvent('match.asked', { data: z.object({ size: z.string() }) })
const run = async () => null

function ask(workflow: Omit<AnyWorkflow, 'id' | 'run' | 'kind'>, facts = FACTS) {
  const { fate, clauses } = matchEvent(defineWorkflow({ id: 'asked', run, ...workflow } as never), RECORD, facts)
  return [fate, ...clauses.map(({ name, fits, says }) => `${name} ${fits ? 'fits' : 'does not'}: ${says}`)]
}

test.each<[string, Parameters<typeof ask>[0], string[]]>([
  ['its type', { on: 'match.*' }, ['starts', 'on fits: match.*', 'shape fits: the event has it']],
  ['another type', { on: 'file.created' }, ['ignored', 'on does not: file.created']],
  ['a cron line', { on: cron('0 3 * * *') }, ['ignored', expect.stringMatching(/^on does not: cron 0 3/)]],
  [
    'a definition that it does not fit',
    { on: strict },
    ['halts', 'on fits: match.asked', expect.stringMatching(/^shape does not: .*data\.size/)],
  ],
  [
    'a `where` that refuses it',
    { on: 'match.asked', where: () => false },
    ['skipped', expect.anything(), expect.anything(), 'where does not: returned false'],
  ],
  [
    'a `where` that throws',
    {
      on: 'match.asked',
      where: () => {
        throw new Error('no size')
      },
    },
    [
      'halts',
      expect.anything(),
      expect.anything(),
      expect.stringMatching(/^where does not: its `where` threw: no size, at \S+match-event\.test\.ts:\d+$/),
    ],
  ],
  [
    'limits',
    {
      on: 'match.asked',
      where: () => true,
      concurrency: { limit: 2, key: () => 'storage_a' },
      throttle: { limit: 10, per: '1m' },
      priority: () => 7,
    },
    [
      'starts',
      expect.anything(),
      expect.anything(),
      'where fits: returned true',
      'keys fits: 10 starts in 60 s; 2 at a time for "storage_a"; priority 7',
    ],
  ],
  [
    'a singleton and a batch',
    {
      on: 'match.asked',
      singleton: { key: () => 'a' },
      batch: { size: 5, wait: '10s', key: () => 'in' },
    } as never,
    [
      'starts',
      expect.anything(),
      expect.anything(),
      'keys fits: a batch of up to 5 or 10 s for "default/in"; one at a time for "a", and another one: skip',
    ],
  ],
  [
    'a key that is no string',
    { on: 'match.asked', concurrency: { limit: 2, key: () => 3 as never } },
    ['halts', expect.anything(), expect.anything(), expect.stringMatching(/^keys does not: the key of `concurrency`/)],
  ],
])('an event meets a workflow with %s', (_, workflow, said) => {
  expect(ask(workflow)).toEqual(said)
})

test('`where` sees whether the event is self-caused, and an event without a body halts', () => {
  const foreign = { on: 'match.asked', where: ({ isSelfCaused }: { isSelfCaused: boolean }) => !isSelfCaused }
  expect(ask(foreign as never)[0]).toBe('starts')
  expect(ask(foreign as never, { ...FACTS, isSelfCaused: true })[0]).toBe('skipped')
  const workflow = defineWorkflow({ id: 'asked', on: 'match.asked', run })
  expect(matchEvent(workflow, { ...RECORD, body: '' }, FACTS)).toMatchObject({
    fate: 'halts',
    clauses: [{ fits: true }, { name: 'shape', fits: false, says: expect.stringContaining('is pruned') }],
  })
})
