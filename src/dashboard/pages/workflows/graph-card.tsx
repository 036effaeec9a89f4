import { useState } from 'react'
import { Link } from 'wouter'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { useApi } from '../../api/use-api.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Loaded } from '../../parts/messages.tsx'
import { countOf, formatCount, formatDuration } from '../../words/format.ts'
import { placeNodes } from '../../words/place-nodes.ts'

type Graph = AnswerOf<'GET /workflows/:id/graph'>
type Node = Graph['nodes'][number]

const WIDTH = 168
const HEIGHT = 44
const GAP_X = 44
const GAP_Y = 14
/** Characters of a name that fit. */
const MAX_NAME = 22

/** The steps of a workflow in their order, drawn from its newest runs, and as a list. */
export function GraphCard({ workflow }: { workflow: string }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details className="card padded fold" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Steps</summary>
      {isOpen && <Steps workflow={workflow} />}
    </details>
  )
}

function Steps({ workflow }: { workflow: string }) {
  const found = useApi('GET /workflows/:id/graph', { params: { id: workflow } })
  return (
    <Loaded of={found} lines={4}>
      {(graph) =>
        graph.nodes.length === 0 ? (
          <p className="quiet">No run of it has had a step yet.</p>
        ) : (
          <>
            <p className="quiet small">From its newest {countOf(graph.runs, 'run')}.</p>
            <Picture graph={graph} />
            <details className="small">
              <summary>As a list</summary>
              <DataTable
                label="Steps"
                columns={columnsOf(workflow, graph)}
                rows={graph.nodes}
                keyOf={({ name }) => name}
              />
            </details>
          </>
        )
      }
    </Loaded>
  )
}

function Picture({ graph }: { graph: Graph }) {
  const places = placeNodes(graph)
  const columns = Math.max(...[...places.values()].map(({ column }) => column)) + 1
  const rows = Math.max(...[...places.values()].map(({ row }) => row)) + 1
  const [width, height] = [columns * (WIDTH + GAP_X) - GAP_X, rows * (HEIGHT + GAP_Y) - GAP_Y]
  const at = (name: string) => {
    const { column = 0, row = 0 } = places.get(name) ?? {}
    return { x: column * (WIDTH + GAP_X), y: row * (HEIGHT + GAP_Y) }
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
    <section className="graph" aria-label="Picture of the steps" tabIndex={0}>
      <svg role="img" aria-label="Steps and their order; the list below says the same" width={width} height={height}>
        <title>Steps and their order</title>
        {graph.edges.map(({ from, to }) => (
          <path key={`${from} → ${to}`} d={drawWay(at(from), at(to))} />
        ))}
        {graph.nodes.map((node) => (
          <Box key={node.name} node={node} {...at(node.name)} />
        ))}
      </svg>
    </section>
  )
}

interface Point {
  x: number
  y: number
}

/** From the right side of a box to the left side of another; back below both for a loop. */
function drawWay(from: Point, to: Point): string {
  const [x1, y1] = [from.x + WIDTH, from.y + HEIGHT / 2]
  const [x2, y2] = [to.x, to.y + HEIGHT / 2]
  const bend = x2 > x1 ? (x2 - x1) / 2 : GAP_X
  return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`
}

function Box({ node: { name, effect, times, runs, failed, p50Ms }, x, y }: Point & { node: Node }) {
  const short = name.length > MAX_NAME ? `${name.slice(0, MAX_NAME - 1)}…` : name
  const many = times > runs ? ` · ×${formatCount(times)}` : ''
  return (
    <g data-state={failed > 0 ? 'failed' : 'idle'}>
      <title>{name}</title>
      <rect x={x} y={y} width={WIDTH} height={HEIGHT} rx="6" />
      <text x={x + 10} y={y + 18}>
        {short}
      </text>
      <text className="small" x={x + 10} y={y + 35}>
        {effect === 'read' ? '' : `${effect} · `}
        {p50Ms === null ? 'open' : formatDuration(p50Ms)}
        {many}
        {failed > 0 && ` · ✗ ${formatCount(failed)}`}
      </text>
    </g>
  )
}

function columnsOf(workflow: string, { edges }: Graph): Column<Node>[] {
  return [
    { title: 'Step', className: 'wide', cell: ({ name }) => name },
    { title: 'Does', width: '110px', cell: ({ kind, effect }) => (effect === 'read' ? kind : effect) },
    {
      title: 'After',
      className: 'wide quiet',
      cell: ({ name }) => edges.flatMap(({ from, to }) => (to === name ? [from] : [])).join(', ') || 'the start',
    },
    { title: 'Runs', width: '70px', className: 'number', cell: ({ runs }) => formatCount(runs) },
    { title: 'Times', width: '70px', className: 'number', cell: ({ times }) => formatCount(times) },
    {
      title: 'Median',
      width: '80px',
      className: 'number',
      cell: ({ p50Ms }) => p50Ms !== null && formatDuration(p50Ms),
    },
    {
      title: 'Failed',
      width: '80px',
      className: 'number',
      cell: ({ name, failed }) =>
        failed > 0 && (
          <Link href={`/runs?q=${encodeURIComponent(`workflow:${workflow} step:${name}`)}`}>{formatCount(failed)}</Link>
        ),
    },
  ]
}
