interface Graph {
  nodes: readonly { name: string }[]
  edges: readonly { from: string; to: string }[]
}

/** The place of each step in a picture: its column from the left, its row from the top. */
export function placeNodes({ nodes, edges }: Graph): Map<string, { column: number; row: number }> {
  const numbers = new Map(nodes.map(({ name }, number) => [name, number]))
  const places = new Map<string, { column: number; row: number }>()
  const used = new Map<number, number>()
  // Nodes are in the order of beginning: a way to an earlier one is that of a loop.
  for (const { name } of nodes) {
    const before = edges.filter(({ from, to }) => to === name && (numbers.get(from) ?? 0) < (numbers.get(name) ?? 0))
    const column = Math.max(0, ...before.map(({ from }) => (places.get(from)?.column ?? 0) + 1))
    const row = used.get(column) ?? 0
    used.set(column, row + 1)
    places.set(name, { column, row })
  }
  return places
}
