"""The book's own style sheet, added to that of every page that blox writes."""

CSS = """
:root {
  --holds: #0b6b3a; --holds-ground: #e6f4ea; --part: #7a4b00; --part-ground: #fdf1d7;
  --not: #9b1c1c; --not-ground: #fbe6e4; --absent-ground: #eef1f4;
}
@media (prefers-color-scheme: dark) {
  :root {
    --holds: #7ddba3; --holds-ground: #173524; --part: #f0c674; --part-ground: #3a2d10;
    --not: #f2a39b; --not-ground: #42201d; --absent-ground: #23282d;
  }
}
.badge {
  display: inline-block; padding: .08rem .5rem; border-radius: 999px; font-size: .8rem; font-weight: 600;
  white-space: nowrap; background: var(--absent-ground); color: var(--soft); vertical-align: middle;
  print-color-adjust: exact; -webkit-print-color-adjust: exact;
}
.badge.holds { background: var(--holds-ground); color: var(--holds); }
.badge.holds-in-part { background: var(--part-ground); color: var(--part); }
.badge.does-not-hold { background: var(--not-ground); color: var(--not); }
table.verdicts th, table.verdicts td { text-align: left; white-space: normal; vertical-align: top; }
table.verdicts tbody th { white-space: nowrap; }
table.verdicts td:nth-child(3) { min-width: 17rem; }
table.verdicts td:nth-child(5) { min-width: 17rem; color: var(--soft); }
table.verdicts tr.absent td, table.verdicts tr.absent th { color: var(--soft); font-weight: 400; }
@media (max-width: 40rem) {
  table.verdicts thead, table.verdicts td:nth-child(2) { display: none; }
  table.verdicts tr { display: grid; grid-template-columns: 1fr auto; border-bottom: 1px solid var(--rule); }
  table.verdicts td, table.verdicts th { border: 0; }
  table.verdicts td:nth-child(3), table.verdicts td:nth-child(5) { grid-column: 1 / -1; min-width: 0; }
  table.verdicts td:nth-child(4) { grid-area: 1 / 2; }
}
a { color: inherit; text-decoration-color: var(--soft); text-underline-offset: .15em; }
section.page { margin-top: 3.5rem; padding-top: 1.5rem; border-top: 2px solid var(--rule); }
section.page h2 { font-size: 1.5rem; }
section.page h2 .badge { margin-left: .5rem; }
section.page h3 { font-size: 1.1rem; margin: 1.75rem 0 .4rem; }
section.page h4 { font-size: 1rem; margin: 0 0 .2rem; }
section.page p, section.page dd { max-width: 60rem; }
p.subject { margin: 0 0 1rem; color: var(--soft); }
p.claim b { color: var(--soft); font-weight: 600; margin-right: .35rem; }
p.verdict { padding: .6rem .9rem; border-left: 4px solid var(--soft); background: var(--absent-ground); }
p.verdict.holds { border-color: var(--holds); background: var(--holds-ground); }
p.verdict.holds-in-part { border-color: var(--part); background: var(--part-ground); }
p.verdict.does-not-hold { border-color: var(--not); background: var(--not-ground); }
p.panel { margin: .75rem 0 0; font-weight: 600; }
.alone { max-width: 52rem; }
.cause { border-left: 2px solid var(--rule); padding-left: 1rem; margin: 0 0 1.5rem; }
.cause p { margin: 0 0 .5rem; }
table.numbers { width: auto; margin: .5rem 0 1rem; }
table.numbers th, table.numbers td { padding-right: 1.1rem; }
table.numbers thead th { white-space: normal; max-width: 11rem; vertical-align: bottom; }
table.numbers th.words, table.numbers td.words { text-align: left; }
table.numbers td.words { white-space: normal; max-width: 26rem; }
dl { margin: 1.5rem 0 0; }
dt { font-weight: 600; color: var(--soft); font-size: .92rem; margin-top: .7rem; }
dd { margin: .1rem 0 0; }
dd ul { margin: 0; padding-left: 1.2rem; }
p.back { margin-top: 1.25rem; font-size: .9rem; }
@media print { section.page { break-before: page; border-top: none; } p.back { display: none; } }
"""
