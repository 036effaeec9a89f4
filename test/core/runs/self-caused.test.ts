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
    ['one that the service confirmed', deleteStep(), 'yes'],
    ['one that was found done after a fault', deleteStep({ output: '{"outcome":"already_gone"}' }), 'yes'],
    ["an author's own, whatever it returned", deleteStep({ output: '"done"' }), 'yes'],
    ['one that ended ten minutes before', deleteStep({ startedAt: 0, finishedAt: NOW - 10 * MINUTE }), 'yes'],
    ['one that ended longer before', deleteStep({ startedAt: 0, finishedAt: NOW - 10 * MINUTE - 1 }), 'no'],
    ['one that began after we knew', deleteStep({ startedAt: NOW + 1, finishedAt: NOW + 2 }), 'no'],
    ['one that found nothing', deleteStep({ output: '{"outcome":"not_found"}' }), 'no'],
    ['one that found another file', deleteStep({ output: '{"outcome":"changed"}' }), 'no'],
    ['a dry run', deleteStep({ output: '{"outcome":"dry_run"}' }), 'no'],
    ['one that broke off', deleteStep({ status: 'failed', error: { name: 'TimeoutError', message: '' } }), 'yes'],
    ['one that was refused', deleteStep({ status: 'failed', error: { name: 'PermissionError', message: '' } }), 'no'],
    ['one under way', open(), 'open'],
  ])('asks of %s', (_name, step, verdict) => expect(decide(step)).toBe(verdict))

  it('takes a delivery that is hours late by when it happened', () => {
    const late = { createdAt: NOW, receivedAt: NOW + 60 * MINUTE }
    expect(decide(deleteStep(), late, late.receivedAt)).toBe('yes')
  })

  it('is not misled by a service whose clock is ahead', () => {
    const ahead = { createdAt: NOW + 15 * MINUTE, receivedAt: NOW }
    expect(decide(deleteStep({ finishedAt: NOW }), ahead)).toBe('yes')
  })

  it('believes the worst of a delete whose end nobody learns', () => {
    expect(decide(open(), EVENT, NOW + 10 * MINUTE - 1)).toBe('open')
    expect(decide(open(), EVENT, NOW + 10 * MINUTE)).toBe('yes')
  })

  it('needs one delete that did it, and none without', () => {
    const missed = deleteStep({ output: '{"outcome":"not_found"}' })
    expect(decideSelfCaused(EVENT, [missed, deleteStep(), open()], NOW)).toBe('yes')
    expect(decideSelfCaused(EVENT, [missed, open()], NOW)).toBe('open')
    expect(decideSelfCaused(EVENT, [], NOW)).toBe('no')
  })
})

describe('parseDeletion', () => {
  const event = (type: string, data: Record<string, unknown>) => ({ id: 'evt_1', type, created: '', data })

  it('reads which file was deleted, wherever the storage stands', () => {
    const place = { service: 'doc-drive', id: 'fil_1' }
    expect(parseDeletion(event('file.deleted', { service: 'doc-drive', file: { id: 'fil_1' } }))).toEqual(place)
    expect(parseDeletion(event('file.deleted', { file: { id: 'fil_1', service: 'doc-drive' } }))).toEqual(place)
  })

  it.each([
    ['another type', event('file.created', { service: 'storage_a', file: { id: 'fil_1' } })],
    ['no file', event('file.deleted', { service: 'storage_a' })],
    ['no storage', event('file.deleted', { file: { id: 'fil_1' } })],
  ])('gives null for %s', (_name, given) => expect(parseDeletion(given)).toBe(null))
})
