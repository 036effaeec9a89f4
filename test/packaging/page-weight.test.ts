import { resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build, type Rolldown } from 'vite'
import { expect, test } from 'vitest'

const CONFIG = resolve(import.meta.dirname, '../../src/dashboard/vite.config.ts')

test('the page loads 120 kB of code at most, a screen 25 kB more, and all of them 220 kB', async () => {
  const built = (await build({ configFile: CONFIG, build: { write: false } })) as Rolldown.RolldownOutput
  const weigh = (ending: string, isEntry: (chunk: Rolldown.OutputChunk | Rolldown.OutputAsset) => boolean) =>
    built.output
      .filter((each) => each.fileName.endsWith(ending) && isEntry(each))
      .map((each) => gzipSync(each.type === 'chunk' ? each.code : each.source).length / 1_000)
  const sum = (weights: number[]) => weights.reduce((total, each) => total + each, 0)
  const first = weigh('.js', (each) => each.type === 'chunk' && each.isEntry)
  const screens = weigh('.js', (each) => each.type === 'chunk' && !each.isEntry)
  expect(first).toHaveLength(1)
  expect(sum(first)).toBeLessThan(120)
  expect(Math.max(...screens)).toBeLessThan(25)
  expect(sum([...first, ...screens])).toBeLessThan(220)
  expect(sum(weigh('.css', () => true))).toBeLessThan(12)
})
