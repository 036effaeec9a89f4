import { expect, test } from 'vitest'
import { MemoryWatch } from '../../../../src/app/engine/watch/memory-watch.ts'
import type { EngineEnd } from '../../../../src/app/engine/watch/question.ts'

const MB = 1_048_576

test('a process beyond its limit ends its engine only where it has grown by 128 MiB beside it', async () => {
  const ends: EngineEnd[] = []
  let resident = 500 * MB
  const watch = new MemoryWatch({
    // A quarter of it is far less than 128 MiB.
    config: { engine: { hangMs: 1, heapBytes: 2 ** 40, memoryBytes: MB } },
    thread: {
      threadId: -1,
      beat: 0,
      memory: async () => ({ heap: 0, buffers: 0 }),
      end: async (end) => void ends.push(end),
    },
    changed: () => {},
    isBusy: () => true,
    failed: (error) => expect.unreachable(String(error)),
    resident: () => resident,
  })
  watch.noteLoaded()
  resident = 450 * MB
  await watch.look(true)
  resident += 128 * MB
  await watch.look(true)
  expect(ends).toEqual([])
  resident += 1
  await watch.look(true)
  expect(ends).toMatchObject([
    { cause: 'out_of_memory', error: { message: expect.stringContaining('engine.memoryBytes') } },
  ])
})
