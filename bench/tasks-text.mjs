/** A task file with so many tasks, each after the one before it. */
export function tasksOf(count) {
  const lines = ['# Tasks', '', '## TODO', ''];
  for (let i = 0; i < count; i++)
    lines.push(
      `- [${i % 3 ? ' ' : 'x'}] B @executor-001 #docker "Check container ${i}"`,
      `  id: task-${i}`,
      '  created: 2025-10-04T10:00:00.000Z',
      `  depends_on: task-${Math.max(0, i - 1)}`,
      '  prompt: |',
      '    Look whether it runs.',
      '',
      '    Then say so.',
      '',
    );
  return lines.join('\n');
}
