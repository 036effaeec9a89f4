import { readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { linkedSources, ROOT } from '../links.ts'
import { PAGES } from '../pages.ts'

/** A page for each source file that another page links to. */
export default {
  paths: () =>
    linkedSources(PAGES).map((path) => {
      const code = readFileSync(join(ROOT, path), 'utf8')
      return { params: { path }, content: `# ${path}\n\n\`\`\`\`${extname(path).slice(1) || 'text'}\n${code}\`\`\`\`` }
    }),
}
