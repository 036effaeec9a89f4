import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { cron } from '../../src/author/cron.ts'
import { defineEvent } from '../../src/author/define-event.ts'
import { defineWorkflow } from '../../src/author/define-workflow.ts'
import { findDefinition, planRoutes, scheduleOf } from '../../src/author/read-workflow.ts'
import { UpshotError } from '../../src/core/errors.ts'
import { planPriorities } from '../../src/core/incoming/route.ts'
import { UNADMITTED_PRIORITY } from '../../src/core/runs/admission.ts'

const run = () => null
const fileCreated = defineEvent('file.created', { data: z.looseObject({ id: z.string() }) })

describe('defineWorkflow', () => {
  it('gives a good definition back, marked as one', () => {
    const options = { id: 'a-1', on: 'file.created', retry: { attempts: 2, min: '1s' }, timeout: { step: '5m' }, run }
    expect(defineWorkflow(options)).toEqual({ kind: 'workflow', ...options })
  })

  it.each([
    ['an id with capitals', { id: 'Nightly' }, /id: must be words/],
    ['no trigger', { on: undefined }, /on: /],
    ['an empty list of triggers', { on: [] }, /on: /],
    ['no function', { run: undefined }, /run: must be a function/],
    ['no attempts', { retry: { attempts: 0 } }, /retry\.attempts: /],
    ['a pause that is no duration', { retry: { min: 'soon' } }, /retry\.min: must be a duration/],
    ['a timeout that is no duration', { timeout: { step: '5 parsecs' } }, /timeout\.step: must be a duration/],
    ['a limit of nothing', { concurrency: { limit: 0 } }, /concurrency/],
    ['three limits', { concurrency: [{ limit: 1 }, { limit: 2 }, { limit: 3 }] }, /concurrency/],
    ['a throttle without a time', { throttle: { limit: 1, per: 0 } }, /throttle\.per: must be longer than 0/],
    ['a key that is no function', { throttle: { limit: 1, per: '1m', key: 'a' } }, /throttle\.key: must be a function/],
    ['a priority out of range', { priority: 101 }, /priority: must be a whole number from -100 to 100, or a function/],
    ['a conflict that nobody knows', { singleton: { onConflict: 'fail' } }, /singleton/],
    ['a batch of nothing', { batch: { size: 0, wait: '1s' } }, /batch\.size/],
    [
      'a batch and a debounce',
      { batch: { size: 2, wait: '1s' }, debounce: { wait: '1s' } },
      /debounce: cannot be combined/,
    ],
    [
      'a cron workflow that gathers',
      { on: cron('0 3 * * *'), batch: { size: 2, wait: '1s' } },
      /needs a workflow that events start/,
    ],
    ['a time limit of nothing', { timeout: { run: 0 } }, /timeout\.run: must be longer than 0/],
    ['an option that nobody knows', { onFailur: run }, /onFailur/],
  ])('refuses %s and says where', (_, part, message) => {
    const define = () => defineWorkflow({ id: 'nightly', on: 'file.created', run, ...part } as never)
    expect(define).toThrow(UpshotError)
    expect(define).toThrow(message)
  })

  it.each([undefined, null, 'text'])('refuses %j with an error for people', (given) =>
    expect(() => defineWorkflow(given as never)).toThrow(/is not valid/),
  )
})

describe('planRoutes', () => {
  it.each([
    ['a type', 'file.created', ['file.created']],
    ['a definition', fileCreated, ['file.created']],
    ['a list of both', ['transfer.*', fileCreated], ['transfer.*', 'file.created']],
    ['a cron line', cron('0 3 * * *'), []],
  ])('lists the event types of %s', (_, on, types) => {
    const routes = planRoutes({ kind: 'workflow', id: 'w', on, run })
    expect(routes).toEqual(types.map((eventType) => ({ eventType, workflow: 'w' })))
  })
})

describe('the first priority of a run', () => {
  it.each([
    ['its own, where nothing else limits it', { priority: 7 }, 7],
    [
      'before all others, where it has to be looked at',
      { concurrency: { limit: 1 }, priority: 7 },
      UNADMITTED_PRIORITY,
    ],
    ['before all others, where code decides it', { priority: () => 1 }, UNADMITTED_PRIORITY],
    ['before all others, where it may come too late', { timeout: { start: '1h' } }, UNADMITTED_PRIORITY],
  ])('is %s', (_, part, priority) => {
    const routes = planRoutes({ kind: 'workflow', id: 'w', on: '*', run, ...part })
    expect(routes).toEqual([{ eventType: '*', workflow: 'w', priority }])
    expect(planPriorities(['w', 'v'], [...routes, { eventType: '*', workflow: 'v' }])).toEqual({ w: priority })
  })
})

describe('findDefinition', () => {
  it('finds what an event is to be read with', () => {
    expect(findDefinition(['transfer.*', fileCreated], 'file.created')).toBe(fileCreated)
    expect(findDefinition(['transfer.*', fileCreated], 'transfer.failed')).toBeUndefined()
    expect(findDefinition('file.created', 'file.created')).toBeUndefined()
    expect(findDefinition(cron('0 3 * * *'), 'file.created')).toBeUndefined()
  })

  it('finds the definition of a whole family too, so that no event reaches an author unread', () => {
    const anyFile = defineEvent('file.*', { data: z.looseObject({ id: z.string() }) })
    expect(findDefinition(anyFile, 'file.deleted')).toBe(anyFile)
  })
})

it('tells a cron workflow from one that runs on events', () => {
  const nightly = cron('0 3 * * *')
  expect(scheduleOf({ kind: 'workflow', id: 'w', on: nightly, run })).toBe(nightly)
  expect(scheduleOf({ kind: 'workflow', id: 'w', on: 'file.created', run })).toBeNull()
  expect(scheduleOf({ kind: 'workflow', id: 'w', on: ['file.created'], run })).toBeNull()
  expect(scheduleOf({ kind: 'workflow', id: 'w', on: fileCreated, run })).toBeNull()
})
