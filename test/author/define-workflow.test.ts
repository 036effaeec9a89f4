import { describe, expect, it } from 'vitest'
import { cron } from '../../src/author/cron.ts'
import { defineWorkflow } from '../../src/author/define-workflow.ts'
import { UpshotError } from '../../src/core/errors.ts'

const run = () => null

describe('defineWorkflow', () => {
  it.each([
    ['an id with capitals', { id: 'Nightly' }, /id: must be words/],
    ['no trigger', { on: undefined }, /on: /],
    ['an empty list of triggers', { on: [] }, /on: /],
    ['no function', { run: undefined }, /run: must be a function/],
    ['no attempts', { retry: { attempts: 0 } }, /retry\.attempts: /],
    ['NaN attempts', { retry: { attempts: Number.NaN } }, /retry\.attempts: /],
    ['half an attempt', { retry: { attempts: 1.5 } }, /retry\.attempts: /],
    ['a pause of NaN', { retry: { max: Number.NaN } }, /retry\.max: must be a duration/],
    ['an endless timeout', { timeout: { run: Number.POSITIVE_INFINITY } }, /timeout\.run: must be a duration/],
    ['a window beyond all dates', { throttle: { limit: 1, per: '200000000d' } }, /throttle\.per: must be a duration/],
    ['a negative wait', { debounce: { wait: -1 } }, /debounce\.wait: must be a duration/],
    ['a wait that is a list', { batch: { size: 2, wait: ['5s'] } }, /batch\.wait: must be a duration/],
    ['a pause that is not a duration', { retry: { min: 'soon' } }, /retry\.min: must be a duration/],
    ['a timeout that is not a duration', { timeout: { step: '5 parsecs' } }, /timeout\.step: must be a duration/],
    ['a limit of nothing', { concurrency: { limit: 0 } }, /concurrency\.limit: Too small/],
    [
      'an unknown part of a limit',
      { concurrency: { limt: 3 } },
      /concurrency\.limit: .*; concurrency\.limt: is not known$/,
    ],
    [
      'an unknown option',
      { concurency: { limit: 3 }, retries: 3 },
      /valid\. concurency: is not known; retries: is not known$/,
    ],
    ['a limit that is a number', { concurrency: 5 }, /concurrency: must be \{ limit, key \}, or a list of two/],
    ['a singleton that is text', { singleton: 'skip' }, /singleton: must be true or \{ key, onConflict \}/],
    ['a trigger that is a number', { on: 5 }, /on: must be an event type, .* or callable\(…\)/],
    ['a filter that is text', { where: 'x' }, /where: must be a function/],
    ['three limits', { concurrency: [{ limit: 1 }, { limit: 2 }, { limit: 3 }] }, /concurrency/],
    ['a throttle without a time', { throttle: { limit: 1, per: 0 } }, /throttle\.per: must be longer than 0/],
    [
      'a key that is not a function',
      { throttle: { limit: 1, per: '1m', key: 'a' } },
      /throttle\.key: must be a function/,
    ],
    ['a priority out of range', { priority: 101 }, /priority: must be a whole number from -100 to 100, or a function/],
    ['an unknown rule for conflicts', { singleton: { onConflict: 'fail' } }, /singleton\.onConflict: Invalid option/],
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
    [
      'a cron workflow that waits for a burst to end',
      { on: cron('0 3 * * *'), debounce: { wait: '1s' } },
      /debounce: needs a workflow that events start/,
    ],
    [
      'a batch that an event cancels',
      { batch: { size: 2, wait: '1s' }, cancelOn: { on: 'file.deleted' } },
      /cancelOn: cannot be combined with `batch`/,
    ],
    ['a time limit of nothing', { timeout: { run: 0 } }, /timeout\.run: must be longer than 0/],
    ['an unknown option', { onFailur: run }, /onFailur/],
  ])('defineWorkflow refuses %s and says where', (_, part, message) => {
    const define = () => defineWorkflow({ id: 'nightly', on: 'file.created', run, ...part } as never)
    expect(define).toThrow(UpshotError)
    expect(define).toThrow(message)
  })

  it.each([undefined, null, 'text'])('defineWorkflow refuses %j with an error for people', (given) =>
    expect(() => defineWorkflow(given as never)).toThrow(/is not valid/),
  )
})
