import { expect, test } from 'vitest'
import { Tickets } from '../../../src/admin/resources/service/file-handlers.ts'

test('a ticket is good once, and no longer than a minute', () => {
  const tickets = new Tickets<string>()
  const { ticket, expiresAt } = tickets.issue('a file', 1_000)
  expect(expiresAt).toBe(61_000)
  expect(tickets.redeem(ticket, 60_999)).toBe('a file')
  expect(() => tickets.redeem(ticket, 2_000)).toThrow('was used, has expired or is unknown')
  const late = tickets.issue('a file', 1_000)
  expect(() => tickets.redeem(late.ticket, 61_000)).toThrow('was used, has expired or is unknown')
})

test('a thousand tickets are open at most, and the oldest makes room', () => {
  const tickets = new Tickets<number>()
  const issued = Array.from({ length: 1_001 }, (_, index) => tickets.issue(index, 0).ticket)
  expect(() => tickets.redeem(issued[0] ?? '', 1)).toThrow('was used, has expired or is unknown')
  expect([tickets.redeem(issued[1] ?? '', 1), tickets.redeem(issued[1_000] ?? '', 1)]).toEqual([1, 1_000])
})
