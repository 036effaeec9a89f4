import { expect, test } from 'vitest'
import { RehearsalClock } from '../../../src/app/rehearsal/rehearsal-clock.ts'

test('a clock that is set forward wakes what is due by then, once, and nothing that was canceled', async () => {
  const clock = new RehearsalClock()
  const start = clock.now()
  const woken: string[] = []
  const due = Promise.withResolvers<void>()
  clock.at(start + 3_600_000, () => {
    woken.push('due')
    due.resolve()
  })
  clock.at(start + 3_600_000, () => woken.push('canceled'))()
  const cancel = clock.at(start + 86_400_000, () => woken.push('later'))
  clock.forwardTo(start + 3_600_000)
  await due.promise
  clock.forwardTo(start)
  expect(clock.now()).toBeGreaterThanOrEqual(start + 3_600_000)
  cancel()
  expect(woken).toEqual(['due'])
})
