import type { AnswerOf } from '../../../admin/contract/routes.ts'

type Node = AnswerOf<'GET /events/:id/trace'>['nodes'][number]

/** A node of a trace with the ones that it caused. */
export interface TraceTree {
  node: Node
  children: TraceTree[]
}

/** The tree of a list in which each parent comes before its children; null for an empty list. */
export function growTree(nodes: readonly Node[]): TraceTree | null {
  const trees = new Map<string, TraceTree>()
  for (const node of nodes) {
    const tree = { node, children: [] }
    trees.set(node.id, tree)
    if (node.parent !== null) trees.get(node.parent)?.children.push(tree)
  }
  const [root] = trees.values()
  return root ?? null
}
