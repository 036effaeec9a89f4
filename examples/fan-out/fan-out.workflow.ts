import { callable, defineWorkflow, z } from 'upshot'

/** Looks at each file of a folder, however many there are, and counts what it finds. */
export default defineWorkflow({
  id: 'fan-out',
  on: callable(z.object({ folder: z.string() })),
  // One run works at a time. The files in it are looked at in parallel.
  concurrency: { limit: 1 },
  async run({ input, files, step }) {
    const { items, complete } = await files.snapshot({ service: 'storage_a', path: input.folder })
    // A step of its own for each file: after a crash, only those that had not finished run again.
    const classes = await step.map(
      'classify',
      items,
      ({ id }) => id,
      ({ name }) => (name.endsWith('.txt') ? 'text' : 'other'),
      { parallel: 50, effect: 'read' },
    )
    return { files: items.length, complete, texts: classes.filter((each) => each === 'text').length }
  },
})
