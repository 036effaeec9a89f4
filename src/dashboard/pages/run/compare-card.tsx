import { useState } from 'react'
import { useApi } from '../../api/use-api.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Loaded } from '../../parts/messages.tsx'
import { Card } from '../../parts/page.tsx'
import { Look, RunLink } from '../../parts/text.tsx'
import { type ComparedStep, compareSteps } from '../../words/compare.ts'
import { countOf } from '../../words/format.ts'
import type { Run } from '../../words/runs.ts'
import { lookOfStanding } from '../../words/states.ts'

/** Characters of a value that a line shows. */
const MAX_TEXT = 120

const COLUMNS: readonly Column<ComparedStep>[] = [
  { title: 'Step', width: '26%', cell: ({ key }) => <span className="mono">{key}</span> },
  { title: 'Compared', width: '130px', cell: ({ standing }) => <Look look={lookOfStanding(standing)} /> },
  {
    title: 'Original → this run',
    className: 'wide',
    cell: ({ changes }) =>
      changes.map(({ path, before, after }) => (
        <div key={path} className="wrap">
          <code>{path}</code> <del>{textOf(before)}</del> → <ins>{textOf(after)}</ins>
        </div>
      )),
  },
]

function textOf(value: unknown): string {
  const text = value === undefined ? 'absent' : JSON.stringify(value)
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text
}

/** The steps of a fork, replay or successor beside those of the run that it comes from. */
export function CompareCard({ run, origin }: { run: Run; origin: string }) {
  const [isOpen, setOpen] = useState(false)
  const beside = !isOpen && (
    <button type="button" onClick={() => setOpen(true)}>
      Compare
    </button>
  )
  return (
    <Card title="Compared with its original run" beside={beside}>
      <p className="quiet">
        Shows the steps whose results differ. The original run is <RunLink run={{ ...run, id: origin }} />.
      </p>
      {isOpen && <Comparison here={run.id} there={origin} />}
    </Card>
  )
}

function Comparison({ here, there }: { here: string; there: string }) {
  const own = useApi('GET /runs/:id/details', { params: { id: here }, query: {} })
  const other = useApi('GET /runs/:id/details', { params: { id: there }, query: {} })
  const [isWhole, setWhole] = useState(false)
  return (
    <Loaded of={own}>
      {({ steps }) => (
        <Loaded of={other}>
          {({ steps: before }) => {
            const all = compareSteps(steps, before)
            const shown = isWhole ? all : all.filter(({ standing }) => standing !== 'same')
            const same = all.length - shown.length
            return (
              <>
                {shown.length > 0 && (
                  <DataTable label="Steps of both runs" columns={COLUMNS} rows={shown} keyOf={({ key }) => key} />
                )}
                {same > 0 && (
                  <div className="row">
                    <span className="quiet">{countOf(same, 'step')} gave the same result.</span>
                    <button type="button" className="plain" onClick={() => setWhole(true)}>
                      Show them
                    </button>
                  </div>
                )}
              </>
            )
          }}
        </Loaded>
      )}
    </Loaded>
  )
}
