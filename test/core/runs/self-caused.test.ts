import { describe, expect, it } from 'vitest'
import { decideSelfCaused, parseDeletion } from '../../../src/core/runs/self-caused.ts'
import type { Checkpoint } from '../../../src/core/runs/step.ts'
import { checkpoint, NOW } from '../../support/fixtures.ts'

const MINUTE = 60_000
const EVENT = { createdAt: NOW, receivedAt: NOW }
const deleteStep = (part: Partial<Checkpoint> = {}) =>
  checkpoint('files.delete', { effect: 'delete', output: '{"outcome":"deleted","proof":"reply"}', ...part })
const open = (part: Partial<Checkpoint> = {}) =>
  deleteStep({ status: 'waiting', output: null, finishedAt: null, startedAt: NOW - 1, ...part })
const decide = (step: Checkpoint, event = EVENT, now = NOW) => decideSelfCaused(event, [step], now)

describe('decideSelfCaused', () => {
  it.each<[string, Checkpoint, 'yes' | 'no' | 'open']>([
    ['a delete that the service confirmed', deleteStep(), 'yes'],
    ['a delete that was found done after a fault', deleteStep({ output: '{"outcome":"already_gone"}' }), 'yes'],
    ["an author's own delete, whatever it returned", deleteStep({ output: '"done"' }), 'yes'],
    ['a delete that ended ten minutes before', deleteStep({ startedAt: 0, finishedAt: NOW - 10 * MINUTE }), 'yes'],
    ['a delete that ended longer before', deleteStep({ startedAt: 0, finishedAt: NOW - 10 * MINUTE - 1 }), 'no'],
    ['a delete that began after we knew', deleteStep({ startedAt: NOW + 1, finishedAt: NOW + 2 }), 'no'],
    ['a delete that found nothing', deleteStep({ output: '{"outcome":"not_found"}' }), 'no'],
    ['a delete that found another file', deleteStep({ output: '{"outcome":"changed"}' }), 'no'],
    ['a dry run', deleteStep({ output: '{"outcome":"dry_run"}' }), 'no'],
    ['a delete that broke off', deleteStep({ status: 'failed', error: { name: 'TimeoutError', message: '' } }), 'yes'],
    [
      'a delete that was refused',
      deleteStep({ status: 'failed', error: { name: 'PermissionError', message: '' } }),
      'no',
    ],
    ['a delete under way', open(), 'open'],
  ])('decideSelfCaused judges a deletion by %s', (_name, step, verdict) => expect(decide(step)).toBe(verdict))

  it('a deletion delivered hours late counts by the time at which it happened', () => {
    const late = { createdAt: NOW, receivedAt: NOW + 60 * MINUTE }
    expect(decide(deleteStep(), late, late.receivedAt)).toBe('yes')
  })

  it('a deletion is recognized when the clock of the service is ahead', () => {
    const ahead = { createdAt: NOW + 15 * MINUTE, receivedAt: NOW }
    expect(decide(deleteStep({ finishedAt: NOW }), ahead)).toBe('yes')
  })

  it('a delete whose end nobody learns counts as the cause after ten minutes', () => {
    expect(decide(open(), EVENT, NOW + 10 * MINUTE - 1)).toBe('open')
    expect(decide(open(), EVENT, NOW + 10 * MINUTE)).toBe('yes')
  })

  it('one delete that may have done it is enough, and none is not', () => {
    const missed = deleteStep({ output: '{"outcome":"not_found"}' })
    expect(decideSelfCaused(EVENT, [missed, deleteStep(), open()], NOW)).toBe('yes')
    expect(decideSelfCaused(EVENT, [missed, open()], NOW)).toBe('open')
    expect(decideSelfCaused(EVENT, [], NOW)).toBe('no')
  })
})

describe('parseDeletion', () => {
  const event = (type: string, data: Record<string, unknown>) => ({ id: 'evt_1', type, created: '', data })

  it('parseDeletion reads the file and its storage from either place', () => {
    const place = { service: 'doc-drive', id: 'fil_1' }
    expect(parseDeletion(event('file.deleted', { service: 'doc-drive', file: { id: 'fil_1' } }))).toEqual(place)
    expect(parseDeletion(event('file.deleted', { file: { id: 'fil_1', service: 'doc-drive' } }))).toEqual(place)
  })

  it.each([
    ['another type', event('file.created', { service: 'storage_a', file: { id: 'fil_1' } })],
    ['no file', event('file.deleted', { service: 'storage_a' })],
    ['no storage', event('file.deleted', { file: { id: 'fil_1' } })],
  ])('parseDeletion returns null for an event with %s', (_name, given) => expect(parseDeletion(given)).toBe(null))
})
