import { expectTypeOf, it } from 'vitest'
import type { Failure } from '../../src/core/errors.ts'
import type { Notice, NoticeOf } from '../../src/core/notices.ts'
import { createNoticeBus } from '../../src/notices/notice-bus.ts'

const bus = createNoticeBus()

it('a listener of a kind gets notices of that kind', () => {
  bus.subscribe('run.failed', (notice) => expectTypeOf(notice.error).toEqualTypeOf<Failure>())()
  bus.subscribe('*', (notice) => expectTypeOf(notice).toEqualTypeOf<Notice>())()
})

it('an awaited notice has the type of its kind', () => {
  const awaited = () => bus.once('run.completed', (notice) => notice.steps > 1)
  expectTypeOf(awaited).returns.resolves.toEqualTypeOf<NoticeOf<'run.completed'>>()
})

it('misuse of the notice bus does not compile', () => {
  const misuse = () => {
    // @ts-expect-error: there is no such kind.
    bus.subscribe('run.exploded', () => {})
    // @ts-expect-error: a count is missing.
    bus.publish({ kind: 'run.queued' })
    // @ts-expect-error: this kind has no error.
    bus.subscribe('run.queued', (notice) => notice.error)
  }
  expectTypeOf(misuse).toBeFunction()
})
