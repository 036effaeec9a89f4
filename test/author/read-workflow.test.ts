import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { cron } from '../../src/author/cron.ts'
import { defineEvent } from '../../src/author/define-event.ts'
import { findDefinition, isGated, planRoutes, scheduleOf } from '../../src/author/read-workflow.ts'
import { planPriorities } from '../../src/core/incoming/route.ts'
import { UNADMITTED_PRIORITY } from '../../src/core/runs/admission.ts'

const run = () => null
const fileCreated = defineEvent('file.created', { data: z.looseObject({ id: z.string() }) })

describe('planRoutes', () => {
  it.each([
    ['a type', 'file.created', ['file.created']],
    ['a definition', fileCreated, ['file.created']],
    ['a list of both', ['transfer.*', fileCreated], ['transfer.*', 'file.created']],
    ['a cron line', cron('0 3 * * *'), []],
  ])('planRoutes lists the event types of %s', (_, on, types) => {
    const routes = planRoutes({ kind: 'workflow', id: 'w', on, run })
    expect(routes).toEqual(types.map((eventType) => ({ eventType, workflow: 'w' })))
  })
})

describe('planFirstPriority', () => {
  it.each([
    ['its own when nothing else limits it', { priority: 7 }, 7],
    ['above all others when it has to be admitted', { concurrency: { limit: 1 }, priority: 7 }, UNADMITTED_PRIORITY],
    ['above all others when a function decides it', { priority: () => 1 }, UNADMITTED_PRIORITY],
    ['above all others when it may come too late', { timeout: { start: '1h' as const } }, UNADMITTED_PRIORITY],
  ])('the first priority of a run is %s', (_, part, priority) => {
    const routes = planRoutes({ kind: 'workflow', id: 'w', on: '*', run, ...part })
    expect(routes).toEqual([{ eventType: '*', workflow: 'w', priority }])
    expect(planPriorities(['w', 'v'], [...routes, { eventType: '*', workflow: 'v' }])).toEqual({ w: priority })
  })
})

describe('findDefinition', () => {
  it('findDefinition finds the definition that parses an event', () => {
    expect(findDefinition(['transfer.*', fileCreated], 'file.created')).toBe(fileCreated)
    expect(findDefinition(['transfer.*', fileCreated], 'transfer.failed')).toBeUndefined()
    expect(findDefinition('file.created', 'file.created')).toBeUndefined()
    expect(findDefinition(cron('0 3 * * *'), 'file.created')).toBeUndefined()
  })
})

it('scheduleOf tells a cron workflow from one that runs on events', () => {
  const nightly = cron('0 3 * * *')
  expect(scheduleOf({ kind: 'workflow', id: 'w', on: nightly, run })).toBe(nightly)
  expect(scheduleOf({ kind: 'workflow', id: 'w', on: 'file.created', run })).toBeNull()
  expect(scheduleOf({ kind: 'workflow', id: 'w', on: ['file.created'], run })).toBeNull()
  expect(scheduleOf({ kind: 'workflow', id: 'w', on: fileCreated, run })).toBeNull()
})

it('isGated is true only of workflows that limit their runs', () => {
  expect(isGated({})).toBe(false)
  expect(isGated({ priority: 5, timeout: { run: '1h', step: '1m' } })).toBe(false)
  expect(isGated({ singleton: true })).toBe(true)
  expect(isGated({ throttle: { limit: 1, per: '1m' } })).toBe(true)
})
