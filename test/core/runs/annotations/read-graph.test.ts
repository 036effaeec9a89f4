import { expect, test } from 'vitest'
import { readGraph } from '../../../../src/core/runs/annotations/read-graph.ts'

const step = (key: string, position: number, from: number, to: number | null, status = 'completed') => {
  const times = { startedAt: from, finishedAt: to }
  return { key, position, kind: 'run', effect: 'read', status, ...times } as const as never
}

const waysOf = (...runs: Parameters<typeof readGraph>[0]) =>
  readGraph(runs).edges.map(({ from, to, runs: times }) => `${from} → ${to} ×${times}`)

test('steps in a row, beside one another and again in a row are drawn as they went', () => {
  const run = [
    step('read', 0, 0, 10),
    step('copy[a]', 1, 10, 20),
    step('copy[b]', 2, 10, 30),
    step('check', 3, 12, 18),
    step('tell', 4, 30, 31),
  ]
  expect(waysOf(run)).toEqual(['read → copy ×1', 'read → check ×1', 'copy → tell ×1', 'check → tell ×1'])
})

test('runs are counted by way, and a step by its runs, its times, its failures and its median', () => {
  const whole = [step('read', 0, 0, 10), step('copy[a]', 1, 10, 20), step('copy[b]', 2, 20, 50)]
  const failed = [step('read', 0, 0, 30), step('copy[a]', 1, 30, 40, 'failed')]
  const begun = [step('read', 0, 0, null, 'started')]
  const { nodes, edges } = readGraph([whole, failed, begun])
  expect(edges).toEqual([{ from: 'read', to: 'copy', runs: 2 }])
  expect(nodes).toMatchObject([
    { name: 'read', runs: 3, times: 3, failed: 0, p50Ms: 30 },
    { name: 'copy', runs: 2, times: 3, failed: 1, p50Ms: 10 },
  ])
})

test('a loop over one name is one step without a way to itself, and of thousands 500 are looked at', () => {
  const loop = Array.from({ length: 5_000 }, (_, index) => step(`copy[${index}]`, index, index, index + 1))
  const { nodes, edges } = readGraph([loop])
  expect([nodes[0]?.times, edges]).toEqual([500, []])
})
