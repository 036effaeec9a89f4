import { expect, test } from 'vitest'
import { readDiff, reportLines } from '../../../src/app/backtest/changed-lines.ts'

const DIFF = `diff --git a/w/a.ts b/w/a.ts
--- a/w/a.ts
+++ b/w/a.ts
@@ -1 +1,2 @@ export
+const a = 1
+
@@ -9,2 +10,0 @@
@@ -20 +19 @@
+// a comment
@@ -30 +3 @@
+  b()
diff --git a/w/b.ts b/w/b.ts
--- /dev/null
+++ b/w/b.ts
@@ -0,0 +1 @@
+x()
`

test('changed lines are those of the new side, and a removed one is none', () => {
  expect(readDiff(DIFF, (path) => `/top/${path}`)).toEqual([
    { file: '/top/w/a.ts', lines: [1, 2, 19, 3] },
    { file: '/top/w/b.ts', lines: [1] },
  ])
})

test('the innermost range says whether a line ran; blank lines, comments and unloaded files do not count', () => {
  const text = 'const a = 1\n\n  b()\n// a comment\n'
  const coverage = [
    {
      file: '/a.ts',
      ranges: [
        { from: 0, to: text.length, hasRun: true },
        { from: 13, to: 18, hasRun: false },
      ],
    },
  ]
  const changed = [
    { file: '/a.ts', lines: [1, 2, 3, 4] },
    { file: '/b.ts', lines: [1] },
  ]
  const report = reportLines(changed, coverage, { read: () => text, nameOf: (file) => file.slice(1) })
  expect(report).toEqual({ changed: 2, ran: 1, notReached: ['a.ts:3'] })
})
